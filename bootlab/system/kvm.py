"""Where a system may be priced like a guest of KVM, and where, on x86-64 alone, it may see that hypervisor."""

from typing import Final

from bootlab.system.machine import BootClock, ClockKind, Machine

_PRICED: Final = ("x86_64", "aarch64")
"""Architectures that price.classes knows the exits of."""


def expect_kvm(machine: Machine, clock: BootClock) -> None:
    """Raise ValueError for a host model, or a hypervisor to be seen, of a machine or on a clock that has none."""
    what = f"machine.type {machine.type.value!r} is {machine.arch}"
    if clock.host_model is not None and machine.arch not in _PRICED:
        raise ValueError(f"clock.host_model: the exits of x86-64 and arm64 guests of KVM are known; {what}")
    if machine.shape is not None and clock.kind is not ClockKind.VIRTUAL:
        raise ValueError(f'machine.shape is for the virtual clock; clock.kind is "{clock.kind.value}"')
    if machine.hypervisor is None:
        return
    if machine.arch != "x86_64":
        raise ValueError(f'machine.hypervisor = "kvm" is shown to an x86-64 guest; {what}')
    if clock.kind is not ClockKind.VIRTUAL:
        raise ValueError(
            f'machine.hypervisor: clock.kind = "{clock.kind.value}" has the hypervisor that runs the guest'
        )
