"""What was read from disks in each phase of a boot, by firmware, loader, kernel and user space: a table of a page."""

from collections.abc import Sequence

from bootlab.measure.record import BootRecord
from bootlab.report.parts.figures import count
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Html


def reads_table(records: Sequence[BootRecord], titles: Sequence[str] = ("bytes read",)) -> Html:
    """Return the bytes of each phase, a column a boot; empty where none of the boots has a count.

    A phase that a boot has not is left empty, and so is one of a boot whose disks are not counted.
    """
    found = [
        {phase.name: phase.read_bytes for phase in record.phases if phase.read_bytes is not None} for record in records
    ]
    if not any(found):
        return Html()
    names = list(dict.fromkeys(name for phases in found for name in phases))
    others = list(dict.fromkeys(name for record in records for name in record.read_up_to))
    rows = [[Cell(name), *(Cell(count(phases.get(name))) for phases in found)] for name in names]
    rows += [
        [Cell(f"up to the mark {name}"), *(Cell(count(record.read_up_to.get(name))) for record in records)]
        for name in others
    ]
    columns = [Column("phase"), *(Column(title, "number") for title in titles)]
    return table("What all disks were asked for in each phase, in bytes, by whoever asked.", columns, rows)
