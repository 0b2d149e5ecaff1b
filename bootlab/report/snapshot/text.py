"""A snapshot and its clones for a terminal."""

from rich.console import RenderableType
from rich.text import Text

from bootlab.experiments.snapshot.result import ClonesResult, SnapshotResult
from bootlab.measure.record import BootRecord, Outcome
from bootlab.report.parts.figures import count, ms, visible
from bootlab.timeline import marks as m

_SHOWN = 20
"""How many clones get a line; a longer list is what JSON is for."""


def kept(result: SnapshotResult) -> list[RenderableType]:
    """Return a snapshot in lines."""
    sizes = ", ".join(f"{name} {count(size)}" for name, size in result.bytes.items())
    told = (
        "each clone is told who it is"
        if result.told
        else "no [snapshot] in the system file: all clones are one machine"
    )
    if result.instructions is None:
        clock, skipped = "wall", f"it stood still at most {ms(result.late_ns)} ms behind its mark"
    else:
        clock, skipped = "virtual", f"{count(result.instructions)} instructions that no clone runs"
    return [
        Text(f"{visible(result.system)}  kept at {visible(result.at)}  {ms(result.kept_ns)} ms {clock}", style="bold"),
        f"{skipped}; {told}",
        f"bytes: {sizes}; {count(result.bytes_on_disk)} on disk",
        f"host: {result.wall_s:.1f} s",
        f"snapshot: {result.snapshot}",
    ]


def clones(result: ClonesResult) -> list[RenderableType]:
    """Return clones in lines: of each when it woke and answered, then whether they are as they must be."""
    lines: list[RenderableType] = [
        Text(f"{visible(result.system)}  {len(result.boots)} clones", style="bold"),
        f"{'clone':>7}  {'woke ms':>9}  {'ready_clone ms':>14}  {'host s':>7}",
    ]
    lines += [_line(record) for record in result.boots[:_SHOWN]]
    if len(result.boots) > _SHOWN:
        lines.append(f"  and {len(result.boots) - _SHOWN} more: --json has all of them")
    lines += [Text(visible(what), style="bold red") for what in result.alike]
    if not result.alike:
        lines.append("all different: random bytes, host names")
    if result.again is not None:
        same = "the same to the instruction" if result.repeats else "NOT the same"
        lines.append(f"the first of them restored once more: {same}")
    return lines


def _line(record: BootRecord) -> RenderableType:
    number = "-" if record.restored is None or record.restored.clone is None else str(record.restored.clone)
    if record.outcome is not Outcome.READY:
        return Text(f"{number:>7}  {record.outcome.value}: {visible(record.detail)}", style="red")
    woke = record.marks.get(m.WOKE)
    shown = "-" if woke is None else f"{woke / 1e6:.3f}"
    return f"{number:>7}  {shown:>9}  {(record.ready_ns or 0) / 1e6:>14.3f}  {record.wall_s:>7.2f}"
