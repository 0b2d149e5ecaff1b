"""A machine that sleeps: what the plugin is told of its waking, and of what wakes it, in the machine's own time.

asleep suspending
press wake 2000000000 suspending
"""

from typing import Final

from bootlab.errors import InputError
from bootlab.symbols.table import SymbolTable
from bootlab.system import SLEEPS, PowerOnKind, System, pressed_ns
from bootlab.timeline import marks as m

_RESET_VECTOR: Final = 0xFFFFFFF0
_LEAST_CODE: Final = 8
_KERNEL_WAKES: Final = "wakeup_long64"
"""The kernel's first function of its own as it wakes from S3."""
_IMAGE_WAKES: Final = "syscore_resume"
"""A function that it executes as it wakes out of an image and never as it boots: it shows where the kernel lies."""
_SLEEPS: Final = "do_suspend_lowlevel"
"""Its last function before S3."""
_IDLE_ENDS: Final = "s2idle_wake"
"""Where the kernel takes an interrupt for one that is to wake it: then it leaves the idle that it sleeps in."""
_KEY: Final = "wake"
"""QEMU's name of the key that is pressed."""


def is_woken_by_host(system: System) -> bool:
    """Return whether a guest that suspends itself is woken by its host, at once: no time of its own passes then."""
    return system.power_on is not None and system.power_on.kind is PowerOnKind.SUSPENDED and system.wake is None


def waking_lines(system: System, symbols: SymbolTable | None) -> str:
    """Return what the plugin is told of a machine that sleeps: by what it is known to wake, and what wakes it.

    Raises InputError for a kernel that cannot sleep in this way.
    """
    if system.power_on is not None and system.power_on.kind is PowerOnKind.HIBERNATED and system.hibernated_by_loader:
        return "".join(f"{line}\n" for line in _mark_lines(m.KERNEL_WAKES, _IMAGE_WAKES, symbols))
    if system.power_on is None or system.power_on.kind not in SLEEPS:
        return ""
    if system.power_on.kind is PowerOnKind.SUSPENDED:
        # The firmware's first instruction, a second time.
        lines = [f"image {m.WAKE} {_RESET_VECTOR:x} {'??' * _LEAST_CODE} after {m.SUSPENDING}"]
        lines += _mark_lines(m.KERNEL_WAKES, _KERNEL_WAKES, symbols)
        lines += [f"{line} after {m.SUSPENDING}" for line in _mark_lines(m.ASLEEP, _SLEEPS, symbols)]
        lines += [] if system.wake is None else [f"asleep {m.SUSPENDING}"]
    else:
        lines = [f"{line} after {m.SUSPENDING}" for line in _mark_lines(m.WAKE, _IDLE_ENDS, symbols)]
        if not lines:
            raise InputError(
                f'power_on.kind = "{system.power_on.kind.value}": this kernel has no function {_IDLE_ENDS}',
                hint="a kernel that idles has CONFIG_SUSPEND, and its symbols are in its image (CONFIG_KALLSYMS)",
            )
    at_ns = pressed_ns(system.power_on, system.wake)
    at = m.SUSPENDING if system.wake is None else system.wake.at
    lines += [] if at_ns is None else [f"press {_KEY} {at_ns} {at}"]
    return "".join(f"{line}\n" for line in lines)


def _mark_lines(mark: str, function: str, symbols: SymbolTable | None) -> list[str]:
    address = None if symbols is None else symbols.address(function)
    code = None if symbols is None else symbols.code(function, _LEAST_CODE)
    return [f"mark {mark} {address:x} {code.hex()}"] if address is not None and code else []
