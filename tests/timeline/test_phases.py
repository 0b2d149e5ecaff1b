"""A boot cut at its marks: no time is dropped, whatever marks it lacks."""

from collections.abc import Mapping

from bootlab.timeline import marks as m
from bootlab.timeline.phases import cut, unfinished

KERNEL = {
    m.IMAGE_ENTRY: 100,
    m.KERNEL_ENTRY: 200,
    m.START_KERNEL: 210,
    m.INITCALLS_START: 300,
    m.INITCALLS_END: 400,
    m.INIT_EXEC: 410,
    m.FIRST_USER_INSTRUCTION: 420,
    m.READY: 500,
}
FALCON = {m.POWER_ON: 0, m.SPL_ENTRY: 2, m.KERNEL_LOAD: 30, m.KERNEL_JUMP: 99, **KERNEL}
STANDARD = {m.POWER_ON: 0, m.SPL_ENTRY: 2, m.UBOOT_ENTRY: 40, m.KERNEL_LOAD: 60, m.KERNEL_JUMP: 99, **KERNEL}


def phases(marks: Mapping[str, int]) -> list[tuple[str, int]]:
    found = cut(marks)
    assert sum(phase.duration_ns for phase in found) == marks[m.READY]
    assert all(before.end_ns == after.start_ns for before, after in zip(found, found[1:], strict=False))
    return [(phase.name, phase.duration_ns) for phase in found]


def test_a_machine_without_a_bootloader_of_ours_has_firmware() -> None:
    assert phases({m.POWER_ON: 0, **KERNEL})[:2] == [("firmware", 100), ("decompressor", 100)]


def test_the_stages_of_a_board() -> None:
    assert phases(STANDARD)[:5] == [
        ("boot ROM", 2), ("SPL", 38), ("U-Boot", 20), ("kernel load", 40), ("decompressor", 100)
    ]  # fmt: skip
    assert phases(FALCON)[:4] == [("boot ROM", 2), ("SPL", 28), ("kernel load", 70), ("decompressor", 100)]


def test_spl_may_fail_to_load_a_kernel_and_go_on_to_uboot() -> None:
    marks = {**STANDARD, m.KERNEL_LOAD: 20}
    assert phases(marks)[:4] == [("boot ROM", 2), ("SPL", 18), ("kernel load", 20), ("U-Boot", 60)]


def test_a_board_whose_bootloader_goes_on_from_an_image_boots_no_kernel() -> None:
    woken = {m.POWER_ON: 0, m.SPL_ENTRY: 2, m.KERNEL_LOAD: 30, m.KERNEL_JUMP: 99, m.WOKE: 120, m.READY: 150}
    assert phases(woken) == [
        ("boot ROM", 2), ("SPL", 28), ("image load", 69), ("kernel and devices", 21), ("application", 30)
    ]  # fmt: skip
    # One that refuses its image boots the card.
    assert phases({**FALCON, m.WOKE: 500})[2:4] == [("kernel load", 70), ("decompressor", 100)]


def test_a_mark_that_is_not_there_merges_the_phases_on_its_sides() -> None:
    marks = {name: t_ns for name, t_ns in FALCON.items() if name not in (m.INITCALLS_START, m.IMAGE_ENTRY)}
    assert [name for name, _ in phases(marks)] == [
        "boot ROM", "SPL", "kernel load", "kernel head", "kernel core + initcalls", "before init", "exec of init",
        "user space",
    ]  # fmt: skip


def test_what_a_boot_was_in_when_it_ended() -> None:
    stuck = unfinished({m.POWER_ON: 0, m.SPL_ENTRY: 2, m.KERNEL_LOAD: 30}, 1000)
    assert stuck is not None
    assert (stuck.name, stuck.start_ns, stuck.end_ns) == ("kernel load, not finished", 30, 1000)
    early = unfinished({m.POWER_ON: 0, m.IMAGE_ENTRY: 10}, 50)
    assert early is not None and early.name == "decompressor, not finished"


def test_a_machine_that_is_only_asked_has_phases_of_its_own() -> None:
    asked = {"power_on": 0, "launched": 5, "running": 20, "address_up": 70, "port_22_open": 90, "ready": 90}
    assert [(one.name, one.duration_ns) for one in cut(asked)] == [
        ("order", 5),
        ("pending to running", 15),
        ("running to an answer", 50),
        ("address up", 20),
    ]
    assert [one.name for one in cut({"power_on": 0, "ping": 3, "ready": 3})] == ["silent", "answers a ping"]


def test_a_probe_of_an_emulated_machine_changes_no_phase() -> None:
    plain = {"power_on": 0, "image_entry": 1, "start_kernel": 3, "ready": 9}
    assert cut(plain) == cut({**plain, "address_up": 5, "ping": 4})
