"""What one boot left its guest for, counted by class and by function: as KVM's tracepoints saw it, and as predicted.

The class of a counted exit is what KVM did with it (whether the VMM was asked, which device answered), not what a rule
says. A rule is asked for one thing only: whether such an exit comes by time, and so at a rate that is the host's own.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bootlab.price.memory import CHUNK_BITS, PAGE_BITS, Span, in_spans
from bootlab.price.rules import RuleSet, find_exits
from bootlab.price.traps import TrapKind
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import TRAP, Space
from tests.boot.machines.nested_kvm.ring_buffer import Event

OUTSIDE = "[not the kernel]"
"""Firmware, early code and user code: of which only the kernel has symbols."""
SERIAL = "serial"
FAULT = "fault"
BETWEEN_CPUS = "wrmsr_icr"
"""Writes of x2APIC's interrupt command: by which a CPU interrupts another, or itself."""
_SERIAL_PORTS = range(0x3F8, 0x400)
_X2APIC_ICR = 0x830
_LAPIC, _IOAPIC = 0xFEE00, 0xFEC00
_ASKED_VMM = "kvm_userspace_exit"
# AMD64 manual volume 2, appendix C; Linux, arch/x86/include/uapi/asm/svm.h.
_HOSTS = {0x060: "interrupt", 0x061: "NMI", 0x062: "SMI", 0x064: "window for an interrupt", 0x077: "PAUSE"}
_CR0_SELECTIVE = 0x065
_IO, _MSR, _XSETBV, _NPF = 0x07B, 0x07C, 0x08D, 0x400
_PLAIN = {
    0x072: ("cpuid", TrapKind.CPUID),
    0x076: ("wbinvd", TrapKind.INVD),
    0x078: ("hlt", TrapKind.HLT),
    0x081: ("hypercall", TrapKind.HYPERCALL),
    0x089: ("wbinvd", TrapKind.WBINVD),
    _XSETBV: ("xsetbv", TrapKind.XSETBV),
}

Key = tuple[str, str]
"""Class and function."""


@dataclass
class Counted:
    """A boot's exits. `exits`, `by_time`: class and function -> how many; `pages`: first touch -> function."""

    exits: Counter[Key] = field(default_factory=Counter)
    by_time: Counter[Key] = field(default_factory=Counter)
    details: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """Class, function and what it was about (port, register, leaf) -> how many."""
    pages: dict[int, str] = field(default_factory=dict)
    faults: int = 0
    """All of them: a page may fault again."""
    host: Counter[str] = field(default_factory=Counter)
    """What the host did by itself: no part of a prediction."""

    def add(self, name: str, function: str, number: int, count: int, *, by_time: bool) -> None:
        """Add `count` exits."""
        # Firmware goes to real mode and back each time that it polls, which CR0's new value alone would tell.
        by_time = by_time or (name, function) == ("cr0", OUTSIDE)
        (self.by_time if by_time else self.exits)[name, function] += count
        self.details[name, function, number] += count

    def of(self, name: str, *, by_time: bool = False) -> dict[str, int]:
        """Return function -> exits of a class."""
        counts = self.by_time if by_time else self.exits
        return {function: count for (one, function), count in counts.items() if one == name}


class KernelFunctions:
    """Which function of the kernel an address is in; the kernel lies where it was linked to (nokaslr)."""

    def __init__(self, functions: Iterable[tuple[int, str, str]], link_offset: int = 0xFFFFFFFF80000000) -> None:
        found = sorted((address, name) for address, _, name in functions)
        self._addresses = [address for address, _ in found]
        self._names = [name for _, name in found]
        self._offset = link_offset

    def name(self, rip: int, *, early: bool = False) -> str:
        """Return the function's name; OUTSIDE for what is no kernel code. `early`: it may run where it lies."""
        if early and self._addresses[0] - self._offset <= rip < self._addresses[-1] - self._offset + 4096:
            rip += self._offset
        index = bisect_right(self._addresses, rip) - 1
        return self._names[index] if index >= 0 and rip < 0xFFFFFFFFFF000000 else OUTSIDE


@dataclass
class _Exit:
    reason: int
    rip: int
    info1: int
    info2: int
    vcpu: int
    after: list[Event] = field(default_factory=list)

    def has(self, name: str) -> Event | None:
        return next((event for event in self.after if event.name == name), None)

    @property
    def asked_vmm(self) -> bool:
        # KVM also returns to the VMM for a signal, whatever exit it had just handled: with -EINTR.
        return any(event.name == _ASKED_VMM and event.fields["errno"] == 0 for event in self.after)


def _exits(events: Iterable[Event]) -> Iterator[_Exit]:
    # What belongs to an exit comes behind it, in the same thread.
    current: dict[int, _Exit] = {}
    for event in events:
        if event.name == "kvm_exit":
            if event.task in current:
                yield current[event.task]
            f = event.fields
            current[event.task] = _Exit(f["exit_reason"], f["guest_rip"], f["info1"], f["info2"], f.get("vcpu_id", 0))
        elif event.task in current:
            current[event.task].after.append(event)
    yield from current.values()


def _classify(exit: _Exit) -> tuple[str, TrapKind, int] | None:
    # Class, trap and number; None: it is the host's own.
    reason = exit.reason
    if reason in _PLAIN:
        name, kind = _PLAIN[reason]
        told = exit.has("kvm_cpuid")
        return name, kind, told.fields["function"] if told is not None else 0
    if reason == _IO:
        port, into, string = exit.info1 >> 16 & 0xFFFF, bool(exit.info1 & 1), bool(exit.info1 & 4)
        if string:
            return "pio_string", TrapKind.INS if into else TrapKind.OUTS, port
        name = "pio_vmm" if exit.asked_vmm else "pio_kvm"
        return name, TrapKind.IN if into else TrapKind.OUT, port
    if reason == _MSR:
        told = exit.has("kvm_msr")
        number = told.fields["ecx"] if told is not None else 0
        return ("wrmsr", TrapKind.WRMSR, number) if exit.info1 & 1 else ("rdmsr", TrapKind.RDMSR, number)
    if reason < 0x20 or reason == _CR0_SELECTIVE:
        number = 0 if reason == _CR0_SELECTIVE else reason & 15
        return "cr", TrapKind.CR_READ if reason < 0x10 else TrapKind.CR_WRITE, number
    return _classify_fault(exit) if reason == _NPF else None


def _classify_fault(exit: _Exit) -> tuple[str, TrapKind, int]:
    page = exit.info2 >> 12
    kind = TrapKind.MMIO_WRITE if exit.info1 & 2 else TrapKind.MMIO_READ
    if exit.has("kvm_apic") or page == _LAPIC:
        return "mmio_lapic", kind, exit.info2 & ~3
    if exit.has("kvm_mmio"):
        in_kvm = page == _IOAPIC and not exit.asked_vmm
        return "mmio_ioapic" if in_kvm else "mmio_vmm", kind, exit.info2 & ~3
    return FAULT, kind, page


def count_traced(events: Iterable[Event], functions: KernelFunctions, rules: RuleSet) -> Counted:
    """Return what the tracepoints say."""
    counted, found, early = Counted(), [], True
    for exit in _exits(events):
        told = _classify(exit)
        # Every CPU is identified before the first user is there.
        early = early and exit.reason != _XSETBV
        function = functions.name(exit.rip, early=early)
        if told is None:
            counted.host[_host_word(exit.reason)] += 1
        elif told[0] == FAULT:
            counted.faults += 1
            counted.pages.setdefault(told[2], function)
        else:
            found.append((told, function))
    traps = np.zeros(len(found), dtype=TRAP)
    traps["kind"] = [int(kind) for (_, kind, _), _ in found]
    traps["number"] = [number for (_, _, number), _ in found]
    by_time = find_exits(rules, traps).time_bound
    for ((name, _, number), function), bound in zip(found, by_time.tolist(), strict=True):
        counted.add(_finer(name, number), function, number, 1, by_time=bound)
    return counted


def _host_word(reason: int) -> str:
    return "debug register" if 0x20 <= reason < 0x40 else _HOSTS.get(reason, f"reason {reason:#x}")


def count_predicted(profile: Profile, slices: range, rules: RuleSet) -> Counted:
    """Return what the plugin counted on the virtual clock, by the rules."""
    counted = Counted()
    traps = profile.traps[np.isin(profile.traps["slice"], slices)]
    exits = find_exits(rules, traps)
    for trap, index, bound in zip(traps, exits.exit_class.tolist(), exits.time_bound.tolist(), strict=True):
        if index >= 0:
            name, number = exits.names[index], int(trap["number"])
            counted.add(
                _finer(name, number), _function(profile, trap["node"]), number, int(trap["count"]), by_time=bound
            )
    pages = profile.pages[np.isin(profile.pages["slice"], slices)]
    for page, node in zip(pages["page"].tolist(), pages["node"].tolist(), strict=True):
        counted.pages.setdefault(page, _function(profile, node))
    counted.faults = len(counted.pages)
    return counted


def in_chunks(pages: dict[int, str], spans: tuple[Span, ...]) -> dict[int, str]:
    """Return the first touches that are left where huge pages back `spans`: by the first page of each chunk."""
    numbers = np.array(list(pages), dtype=np.uint64)
    chunks = np.where(in_spans(numbers, spans), numbers & ~np.uint64((1 << CHUNK_BITS - PAGE_BITS) - 1), numbers)
    found: dict[int, str] = {}
    for chunk, function in zip(chunks.tolist(), pages.values(), strict=True):
        found.setdefault(chunk, function)
    return found


def _finer(name: str, number: int) -> str:
    if name == "pio_vmm" and number in _SERIAL_PORTS:
        return SERIAL
    if name == "wrmsr" and number == _X2APIC_ICR:
        return BETWEEN_CPUS
    return f"cr{number}" if name == "cr" else name


def _function(profile: Profile, node: int) -> str:
    function = int(profile.nodes["function"][node])
    return profile.names[function] if profile.spaces[function] == Space.KERNEL else OUTSIDE


def classes(counts: Sequence[Counted]) -> list[str]:
    """Return the classes that any of the counts has, in order."""
    return sorted({name for one in counts for name, _ in (*one.exits, *one.by_time)})
