"""Lists the parts of a boot that the flame graph can show alone: its phases, cut further where the user set marks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bootlab.profile.recorded.profile import LAST_SLICE, Profile
from bootlab.report.profile.tree_blocks import BootPart
from bootlab.timeline import marks as m
from bootlab.timeline.phases import Phase, cut

_MOST: Final = 24
"""More slices than this, as a cut at every line of the console makes, are put together by phase."""


def parts_of(profile: Profile, marks: Mapping[str, int]) -> list[BootPart]:
    """Return the parts, earliest first, without gap or overlap. What came after ready is not shown at first."""
    phases = cut({m.POWER_ON: 0, **marks})
    if len(profile.slices) > _MOST:
        return phase_parts(profile, phases)
    ready = profile.up_to(m.READY)
    parts: list[BootPart] = []
    for number, piece in enumerate(profile.slices):
        ns = piece.end_ns - piece.start_ns
        if parts and not ns:
            # Two marks at one moment: nothing to show alone.
            parts[-1] = replace(parts[-1], slices=range(parts[-1].slices.start, number + 1))
        else:
            parts.append(BootPart(_name(profile, number, phases), range(number, number + 1), ns, number in ready))
    return parts


def phase_parts(profile: Profile, phases: list[Phase]) -> list[BootPart]:
    """Return one part for each phase, and one for what came after the last of them.

    A slice counts to the phase in which it began.
    """
    parts, first = [], 0
    for phase in phases:
        last = first
        while last < len(profile.slices) and profile.slices[last].start_ns < phase.end_ns:
            last += 1
        parts.append(_part(profile, phase.name, range(first, last), shown=True))
        first = last
    # Of a boot that was never ready, what comes after its last mark is part of it.
    ready = m.READY in {phase.end for phase in phases}
    rest = _part(profile, "after ready" if ready else "the rest", range(first, len(profile.slices)), shown=not ready)
    return [*parts, rest] if rest.ns else parts


def common_phases(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[list[Phase], list[Phase]]:
    """Return the phases between the marks that both boots have, of each of them."""
    common = {*before, m.POWER_ON} & {*after, m.POWER_ON}
    one, other = (cut({m.POWER_ON: 0, **{name: marks[name] for name in common if name in marks}})
                  for marks in (before, after))  # fmt: skip
    return one, other


def _part(profile: Profile, name: str, slices: range, *, shown: bool) -> BootPart:
    ns = profile.slices[slices[-1]].end_ns - profile.slices[slices[0]].start_ns if slices else 0
    return BootPart(name, slices, ns, shown)


def _name(profile: Profile, number: int, phases: list[Phase]) -> str:
    piece = profile.slices[number]
    after = "after ready" if number >= profile.up_to(m.READY).stop else ""
    if after:
        return after if piece.name == LAST_SLICE else f"after ready, to {piece.name}"
    for phase in phases:
        if (phase.start_ns, phase.end_ns) == (piece.start_ns, piece.end_ns):
            return phase.name
        if phase.start_ns <= piece.start_ns < phase.end_ns:
            return f"{phase.name}, to {piece.name}"
    return f"to {piece.name}"
