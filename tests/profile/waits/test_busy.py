"""Busy waits: what executes only to wait, of a bootloader and of a kernel, and what that makes of a phase."""

from typing import Any

from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import Space
from bootlab.profile.tables.activity import Bound, find_activity
from bootlab.profile.waits.busy import BusyWait, BusyWaitKind

SPL = "[SPL];board_init_r [SPL];"
UBOOT = "[U-Boot];board_init_r [U-Boot];"
STAGE_FUNCTIONS = (
    "udelay [SPL]", "__udelay [SPL]", "board_model_storage_wait [U-Boot]", "wait_until.isra.0 [U-Boot]",
    "udelay [U-Boot]",
    "board_model_uart_putc [U-Boot]",
)  # fmt: skip
TICK = ";asm_sysvec_apic_timer_interrupt;tick"


def test_a_bootloader_that_waits_for_its_flash_chip_is_bound_by_storage(profile_writer: Any) -> None:
    writer = profile_writer
    for name in ("spl_ram_load_read [SPL]", "board_model_chip_wait [SPL]"):
        writer.function(name, Space.CODE)
    writer.spend(SPL + "spl_ram_load_read [SPL];board_model_chip_wait [SPL]", 70, space=Space.STAGE)
    writer.spend(SPL + "spl_ram_load_read [SPL]", 30, space=Space.STAGE)
    writer.cut("uboot_entry")
    activity = find_activity(parse_profile(writer.end(), writer.functions, 0), {"spl_entry": 0, "uboot_entry": 100})
    assert [(one.busy_wait_ns, one.busy_wait_io_ns, one.bound) for one in activity.phases[1:]] == [(70, 70, Bound.IO)]
    waited = BusyWait(BusyWaitKind.CARD, "[SPL]", "board_model_chip_wait", "spl_ram_load_read", "", 70, 1)
    assert list(activity.busy_waits) == [waited]


def test_busy_waits_by_place_and_what_a_phase_was_bound_by(profile_writer: Any) -> None:
    writer = profile_writer
    for name in STAGE_FUNCTIONS:
        writer.function(name, Space.CODE)
    writer.spend(SPL + "mmc_init [SPL];udelay [SPL]", 10, calls=2, space=Space.STAGE)
    writer.spend(SPL + "mmc_init [SPL];udelay [SPL];__udelay [SPL]", 90, space=Space.STAGE)
    writer.spend(SPL + "mmc_init [SPL]", 30, space=Space.STAGE)
    writer.cut("uboot_entry")
    writer.spend(UBOOT + "sunxi_mmc_send_cmd [U-Boot];board_model_storage_wait [U-Boot]", 5, space=Space.STAGE)
    writer.spend(
        UBOOT + "sunxi_mmc_send_cmd [U-Boot];board_model_storage_wait [U-Boot];wait_until.isra.0 [U-Boot]", 70,
        space=Space.STAGE,
    )  # fmt: skip
    writer.spend(UBOOT + "autoboot_command [U-Boot];udelay [U-Boot]", 20, calls=4, space=Space.STAGE)
    writer.spend(UBOOT + "ns16550_putc [U-Boot];board_model_uart_putc [U-Boot]", 3, space=Space.STAGE)
    writer.spend(UBOOT + "main_loop [U-Boot]", 40, space=Space.STAGE)
    writer.cut("image_entry")
    writer.task("swapper", 1)
    delay = "swapper-1;do_one_initcall;probe_init;size_fifo;__timer_delay"
    writer.spend(delay, 40, calls=3)
    writer.spend(delay + TICK, 25)
    writer.spend("swapper-1;do_one_initcall;probe_init;wait_until [vivid]", 50)
    writer.cut("ready")
    marks = {"spl_entry": 0, "uboot_entry": 130, "image_entry": 268, "ready": 383}
    activity = find_activity(parse_profile(writer.end(), writer.functions, 0), marks)
    rows = [(p.name.partition(" +")[0], p.busy_ns, p.busy_wait_ns, p.busy_wait_io_ns, p.bound) for p in activity.phases]
    assert rows == [
        ("boot ROM", 0, 0, 0, Bound.CPU),
        ("SPL", 130, 100, 0, Bound.WAIT),
        ("U-Boot", 138, 98, 75, Bound.IO),
        # An interrupt meanwhile is work, and a module's wait_until() is any function.
        ("decompressor", 115, 40, 0, Bound.CPU),
    ]
    assert list(activity.busy_waits) == [
        BusyWait(BusyWaitKind.DELAY, "[SPL]", "udelay", "mmc_init", "", 100, 2),
        BusyWait(BusyWaitKind.CARD, "[U-Boot]", "board_model_storage_wait", "sunxi_mmc_send_cmd", "", 75, 1),
        BusyWait(BusyWaitKind.DELAY, "swapper-1", "__timer_delay", "size_fifo", "probe_init", 40, 3),
        BusyWait(BusyWaitKind.COUNTDOWN, "[U-Boot]", "udelay", "autoboot_command", "", 20, 4),
        BusyWait(BusyWaitKind.LINE, "[U-Boot]", "board_model_uart_putc", "ns16550_putc", "", 3, 1),
    ]
