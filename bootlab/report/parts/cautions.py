"""What a reader must know before reading a series or a difference. Different clocks are never compared."""

from collections import Counter
from collections.abc import Sequence

from bootlab.errors import InputError
from bootlab.measure.record import BootRecord
from bootlab.measure.statistics.series import humps
from bootlab.report.parts.figures import ms, ready_times


def warnings(before: Sequence[BootRecord], after: Sequence[BootRecord]) -> list[str]:
    """Return what a reader must know before reading the difference; empty when the two sides are of a kind.

    Raises InputError when the sides are on different clocks: their times measure different things.
    """
    clocks = sorted({record.clock for record in [*before, *after]})
    if len(clocks) > 1:
        raise InputError(
            f"{before[0].system} and {after[0].system}: "
            f"times on the {' and the '.join(clocks)} clock cannot be compared",
            hint="boot both with the same clock.kind",
        )
    one, other = before[0], after[0]
    found = []
    if one.cpu != other.cpu:
        models = f"{one.cpu}, {other.cpu}"
        found.append(f"The CPU model differs ({models}): it decides how many instructions the same work takes.")
    if one.ns_per_instruction != other.ns_per_instruction:
        rates = f"{one.ns_per_instruction} and {other.ns_per_instruction} ns per instruction"
        found.append(f"The virtual clocks run at different rates ({rates}): compare instructions and idle, not times.")
    if one.board_model_label != other.board_model_label:
        which = f"{one.board_model_label} and {other.board_model_label}"
        found.append(f"The board models differ, {which}: figures of different models are not to be compared.")
    found += [f"{side[0].system}: {remark}" for side in (before, after) for remark in _remarks(side)]
    if one.accelerator != other.accelerator:
        found.append(f"One side ran under {one.accelerator}, the other under {other.accelerator}.")
    seeds = {record.seed for record in before}, {record.seed for record in after}
    if one.clock == "virtual" and seeds[0] != seeds[1]:
        found.append("The sides have different seeds, and a seed alone moves a boot.")
    return found


def series_warnings(records: Sequence[BootRecord]) -> list[str]:
    """Return what a reader must know of a series: what its boots remark, and two humps, which have no median."""
    found = _remarks(records)
    ready = ready_times(records)
    if records[0].clock == "virtual" or not ready or (humped := humps(ready)) is None:
        return found
    low, high = (f"{hump.n} boots around {ms(hump.median_ns)} ms" for hump in (humped.low, humped.high))
    return [*found, f"The distribution has two humps, {low} and {high}: its median describes neither."]


def _remarks(records: Sequence[BootRecord]) -> list[str]:
    """Return what boots of one kind remark, each once, and in how many of them where that is not in all."""
    told = Counter(remark for record in records for remark in dict.fromkeys(record.remarks))
    return [
        f"{remark}." if times == len(records) else f"{remark} (in {times} of {len(records)} boots)."
        for remark, times in told.items()
    ]
