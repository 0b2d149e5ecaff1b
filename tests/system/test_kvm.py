"""Which machines and clocks can be priced like a guest of KVM, and show it that hypervisor."""

import pytest

from bootlab.system.kvm import expect_kvm
from bootlab.system.machine import BootClock, ClockKind, Machine, MachineType

Q35, VIRT = Machine(type=MachineType.Q35), Machine(type=MachineType.VIRT)
RISCV = Machine(type=MachineType.VIRT, architecture="riscv64")
VIRTUAL, WALL = BootClock(), BootClock(kind=ClockKind.WALL)


def seen(machine: Machine, **changes: object) -> Machine:
    """Return a machine whose guest sees KVM."""
    return Machine.model_validate({**dict(machine), "hypervisor": "kvm", **changes})


def test_a_machine_that_asks_for_nothing_may_be_any() -> None:
    for machine in (Q35, VIRT):
        for clock in (VIRTUAL, WALL):
            expect_kvm(machine, clock)
    expect_kvm(seen(Q35), BootClock(host_model="lean"))
    expect_kvm(Q35, BootClock(host_model="lean"))
    expect_kvm(VIRT, BootClock(host_model="altra"))


@pytest.mark.parametrize(
    ("machine", "clock", "complaint"),
    [
        (
            RISCV,
            BootClock(host_model="altra"),
            "clock.host_model: the exits of x86-64 and arm64 guests of KVM are known",
        ),
        (seen(VIRT), VIRTUAL, "is shown to an x86-64 guest; machine.type 'virt' is aarch64"),
        (seen(Q35), WALL, 'clock.kind = "wall" has the hypervisor'),
    ],
)
def test_where_there_is_none(machine: Machine, clock: BootClock, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        expect_kvm(machine, clock)
