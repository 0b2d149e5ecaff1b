"""Phases: a boot cut at its marks. The marks that bound a phase are part of the phase."""

from collections.abc import Mapping
from dataclasses import dataclass

from bootlab.timeline import marks as m

_NAMES: dict[tuple[str, str], str] = {
    (m.POWER_ON, m.IMAGE_ENTRY): "firmware",
    (m.IMAGE_ENTRY, m.KERNEL_ENTRY): "decompressor",
    (m.KERNEL_ENTRY, m.START_KERNEL): "kernel head",
    (m.START_KERNEL, m.INITCALLS_START): "kernel core",
    (m.INITCALLS_START, m.INITCALLS_END): "initcalls",
    (m.INITCALLS_END, m.INIT_EXEC): "before init",
    (m.INIT_EXEC, m.FIRST_USER_INSTRUCTION): "exec of init",
    (m.FIRST_USER_INSTRUCTION, m.READY): "user space",
}


_STAGES = {
    m.POWER_ON: "boot ROM",
    m.SPL_ENTRY: "SPL",
    m.OPENSBI_ENTRY: "OpenSBI",
    m.UBOOT_ENTRY: "U-Boot",
    m.KERNEL_LOAD: "kernel load",
}
"""Of a board: the phase that each of these marks begins, whatever mark ends it."""
_WOKEN_STAGES = {
    **_STAGES,
    m.KERNEL_LOAD: "image load",
    m.KERNEL_JUMP: "kernel and devices",
    m.WOKE: "application",
}
"""The same of a board whose bootloader goes on from an image of its memory: no kernel boots."""
_PC_STAGES = {
    m.POWER_ON: "firmware",
    m.PEI_ENTRY: "PEI",
    m.DXE_ENTRY: "DXE",
    m.BDS_ENTRY: "BDS",
    m.BOOT_SECTOR: "boot sector",
    m.LOADER_ENTRY: "loader",
    m.SECOND_LOADER_ENTRY: "second loader",
    m.EFI_STUB_ENTRY: "EFI stub",
    m.EXIT_BOOT_SERVICES: "end of UEFI",
}
"""The same of a PC that boots from a disk."""
_ASKED_STAGES = {
    m.POWER_ON: "silent",
    m.LAUNCHED: "pending to running",
    m.RUNNING: "running to an answer",
    m.LINK_UP: "link up",
    m.PING: "answers a ping",
    m.ADDRESS_UP: "address up",
}
"""The same of a machine that is asked from outside."""


@dataclass(frozen=True, slots=True)
class Phase:
    """The span between two marks; both times are ns since power-on."""

    name: str
    start: str
    end: str
    start_ns: int
    end_ns: int

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


def cut(marks: Mapping[str, int]) -> list[Phase]:
    """Return the standard phases of a boot, earliest first.

    A mark that the boot has not got (a console clock sees few) merges the phases on its two sides: the phase is then
    named after both, so that no time is ever dropped and the sum is always the whole. A board's bootloader goes through
    its stages in an order of its own (U-Boot proper may come after SPL has failed to load a kernel).
    """
    reached = _reached(marks)
    phases = []
    for start, end in zip(reached, reached[1:], strict=False):
        phases.append(Phase(_name(start, end, _stages_of(marks)), start, end, marks[start], marks[end]))
    return phases


def unfinished(marks: Mapping[str, int], end_ns: int) -> Phase | None:
    """Return what a boot was in from its last mark to its end at `end_ns`; None where it was ready, or ended there."""
    reached = _reached(marks)
    last = reached[-1] if reached else m.READY
    if last == m.READY or end_ns <= marks[last]:
        return None
    following = m.READY if last not in m.BOOT_ORDER else m.BOOT_ORDER[m.BOOT_ORDER.index(last) + 1]
    return Phase(f"{_name(last, following, _stages_of(marks))}, not finished", last, "end", marks[last], end_ns)


def _stages_of(marks: Mapping[str, int]) -> Mapping[str, str]:
    """Return the stages of this machine before its kernel; empty where the firmware alone loads it."""
    if m.SPL_ENTRY in marks:
        woken = {m.KERNEL_JUMP, m.WOKE} <= marks.keys() and not {m.IMAGE_ENTRY, m.KERNEL_ENTRY} & marks.keys()
        return _WOKEN_STAGES if woken else _STAGES
    if _is_asked(marks):
        # What is ordered is waited for before it is silent.
        return {**_ASKED_STAGES, m.POWER_ON: "order"} if m.LAUNCHED in marks else _ASKED_STAGES
    return _PC_STAGES if any(name in marks for name in m.PC_STAGES) else {}


def _is_asked(marks: Mapping[str, int]) -> bool:
    # A probe of an emulated machine's network may have any name; of a machine that is only asked nothing else is known.
    seen = any(name in marks for name in (*m.BOOT_ORDER[1:-1], *m.PC_STAGES))
    return not seen and any(name in marks for name in (m.LAUNCHED, m.LINK_UP, m.PING, m.ADDRESS_UP))


def _reached(marks: Mapping[str, int]) -> list[str]:
    known = _stages_of(marks)
    stages = sorted((name for name in known if name in marks), key=lambda name: marks[name])
    return [*stages, *(name for name in m.BOOT_ORDER if name in marks and name not in known)]


def _name(start: str, end: str, stages: Mapping[str, str]) -> str:
    if start in stages:
        return "SEC" if end == m.PEI_ENTRY else stages[start]
    first, last = m.BOOT_ORDER.index(start), m.BOOT_ORDER.index(end)
    parts = [_NAMES[pair] for pair in zip(m.BOOT_ORDER[first:last], m.BOOT_ORDER[first + 1 : last + 1], strict=True)]
    return " + ".join(parts)
