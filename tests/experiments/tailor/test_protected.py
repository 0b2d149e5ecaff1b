"""What tailoring never drops because it did not run, and what a user lets go by name."""

from pathlib import Path

import pytest

from bootlab.build.source.option_dependencies import OptionPlace
from bootlab.experiments.tailor.protected import GATES, Guard, Policy, security_group
from bootlab.system import Booted, Compression, Initramfs, Kernel, KernelBuild, Machine, MachineType, System

NOWHERE = OptionPlace(("Kconfig", "drivers/net/Kconfig"), ("Device Drivers", "Network device support"), "A driver")


def system(cmdline: str = "console=ttyS0", vcpus: int = 1, **options: str) -> System:
    return System(
        name="small",
        machine=Machine(type=MachineType.MICROVM, vcpus=vcpus),
        kernel=Kernel(build=KernelBuild(source=Path("linux"), options=options), cmdline=cmdline),
        initramfs=Initramfs(init=Path("init"), compression=Compression.LZ4),
        booted=Booted(mark="ready"),
    )


def guard_of(policy: Policy, option: str, place: OptionPlace = NOWHERE) -> Guard | None:
    found = policy.protected(option, place)
    return None if found is None else found.guard


@pytest.mark.parametrize(
    ("option", "place", "group"),
    [
        ("MITIGATION_RFDS", NOWHERE, Guard.MITIGATIONS),
        ("PAGE_TABLE_CHECK_ENFORCED", NOWHERE, Guard.HARDENING),
        ("SECCOMP_FILTER", NOWHERE, Guard.ACCESS),
        ("MODULE_SIG_SHA256", NOWHERE, Guard.SIGNING),
        # By the menu that it is in, and the menu itself.
        ("GDS_FORCE", OptionPlace((), ("Processor", "Mitigations for CPU vulnerabilities"), ""), Guard.MITIGATIONS),
        ("ANY", OptionPlace((), (), "Kernel hardening options"), Guard.HARDENING),
        # By the folder that defines it.
        ("SECURITY_YAMA", OptionPlace(("Kconfig", "security/yama/Kconfig"), (), ""), Guard.ACCESS),
        ("E1000", NOWHERE, None),
        # A name is meant as a whole.
        ("DEBUG_BUGVERBOSE", NOWHERE, None),
    ],
)
def test_which_protection_an_option_is(option: str, place: OptionPlace, group: Guard | None) -> None:
    assert security_group(option, place) is group


def test_a_protection_goes_only_by_its_name_or_its_group() -> None:
    kept, named, grouped = (Policy(system(), give_up=up) for up in ((), ("BUG",), ("hardening",)))
    assert guard_of(kept, "BUG") is Guard.HARDENING and not kept.given_up("BUG", NOWHERE)
    assert guard_of(named, "BUG") is None and named.given_up("BUG", NOWHERE)
    assert guard_of(named, "VMAP_STACK") is Guard.HARDENING
    assert guard_of(grouped, "VMAP_STACK") is None and guard_of(grouped, "SECCOMP") is Guard.ACCESS
    # An option that protects nothing may go, but nobody said that it has to.
    assert guard_of(kept, "E1000") is None and not kept.given_up("E1000", NOWHERE)


def test_what_this_way_of_booting_needs_stays_whatever_is_given_up() -> None:
    policy = Policy(system(vcpus=2), give_up=("SMP", "PRINTK"))
    boot = {*GATES, "64BIT", "PRINTK", "BLK_DEV_INITRD", "RD_LZ4", "SERIAL_8250_CONSOLE", "SMP"}
    assert {name for name in (*boot, "RD_GZIP", "PVH") if guard_of(policy, name) is Guard.BOOT} == boot
    assert not policy.given_up("SMP", NOWHERE)
    assert guard_of(Policy(system()), "SMP") is None


@pytest.mark.parametrize(
    ("cmdline", "option"),
    [
        ("console=hvc0", "VIRTIO_CONSOLE"),
        ("quiet console=ttyAMA0,115200", "SERIAL_AMBA_PL011_CONSOLE"),
        ("netconsole=ttyS0", None),
    ],
)
def test_the_console_on_the_command_line_is_needed(cmdline: str, option: str | None) -> None:
    consoles = ("SERIAL_8250_CONSOLE", "SERIAL_AMBA_PL011_CONSOLE", "VIRTIO_CONSOLE")
    policy = Policy(system(cmdline))
    assert [name for name in consoles if guard_of(policy, name)] == ([option] if option else [])


def test_what_the_user_asks_for_stays() -> None:
    policy = Policy(system(NET="y", USB="m", SOUND="n"), keep=("E1000",))
    assert [guard_of(policy, name) for name in ("NET", "USB", "E1000")] == [Guard.ASKED] * 3
    assert policy.asked_off("SOUND") and not policy.asked_off("NET")
    assert guard_of(policy, "SOUND") is None


def test_a_board_keeps_what_its_uart_needs() -> None:
    board = Machine(type=MachineType.ORANGEPI_PC)
    for cmdline, guard in (("console=ttyS0,115200", Guard.BOOT), ("quiet", None)):
        policy = Policy(system(cmdline).model_copy(update={"machine": board}))
        assert {guard_of(policy, one) for one in ("SERIAL_8250_DW", "SUN8I_H3_CCU", "PINCTRL_SUN8I_H3")} == {guard}
    assert guard_of(Policy(system()), "SERIAL_8250_DW") is None
