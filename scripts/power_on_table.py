"""`scripts/power-on-table`: recorded boots of every kind of power-on, as one table for docs/persistence.md.

Each line is of one recorded boot: nothing is booted here, so the figures are those of runs that can be looked at. Below
stands what was booted: the inputs that all have in common, then those of each system.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bootlab.errors import BootlabError
from bootlab.experiments.store import Store
from bootlab.measure.record import BootRecord, PowerOnRecord
from bootlab.measure.record_files import read_record
from bootlab.report.parts.figures import ms
from bootlab.report.parts.markdown import markdown_table, plain
from bootlab.timeline import marks as m
from scripts.publishing.boots_table import made_of

SNAPSHOT: Final = "snapshot"
_RISKS: Final = {
    "cold": "nothing",
    "self-refresh": "current of the region's RAM; a bit that turned, found by its check",
    "warm-reset": "nothing beside the reset",
    "hibernated": "what changed on disks since, by a stamp; secrets drawn before",
    "suspended": "current of all RAM; lost with it",
    "s2idle": "current of an idle machine; lost with it",
    SNAPSHOT: "as hibernated; connections; every clone alike until told",
}


def kind_of(record: BootRecord) -> str:
    """Return how the machine of a boot came to be on."""
    if record.restored is not None:
        return SNAPSHOT
    return "cold" if record.power_on is None else record.power_on.kind


def waited_ns(record: BootRecord) -> int | None:
    """Return what somebody waits who comes as the machine is switched on or woken, or at its ignition."""
    wake = None if record.power_on is None else record.power_on.wake
    return record.ready_ns if wake is None or wake.ignition_ns is None else wake.ignition_to_ready_ns


def found_bytes(record: BootRecord) -> int | None:
    """Return what a machine found as it was switched on takes on the host's disk; None where nothing is there."""
    if record.restored is None:
        return record.sizes.get("found")
    files = [path.stat() for path in Path(record.restored.snapshot).glob("*") if path.is_file()]
    return sum(file.st_blocks * 512 for file in files) or None


def table(records: Sequence[BootRecord]) -> str:
    """Return the boots as lines of a table, in their order. What was refused is in the line, too."""
    rows = []
    for record in records:
        kind = kind_of(record)
        asked = record.power_on or PowerOnRecord(kind=kind)
        fault = "" if asked.fault is None else f": {asked.fault}"
        early = "" if asked.wake is None else f", by {asked.wake.by}"
        of_card = [phase.read_bytes or 0 for phase in record.phases] if "card" in record.sizes else []
        read = sum((*(disk.read_bytes for disk in record.disks), *of_card))
        found = found_bytes(record)
        rows.append(
            [
                record.system,
                f"{kind}{fault}{early}",
                ms(record.marks.get(m.WOKE, record.marks.get("root_kept"))),
                ms(record.ready_ns),
                ms(waited_ns(record)),
                f"{read / (1 << 20):.1f}" if record.disks or of_card else "",
                "" if found is None else f"{found / (1 << 20):.1f}",
                _RISKS.get(kind, ""),
            ]
        )
    numbers = ["woke ms>", "ready ms>", "waited ms>", "read MiB>", "found MiB>"]
    return markdown_table(["system", "kind", *numbers, "lost or risked"], rows)


def matrix(rows: Mapping[str, Sequence[BootRecord]]) -> str:
    """Return a row for each system and a column for each kind: when it was ready, and how much of its own cold boot.

    A system may be several system files, as one kind asks for other parts than another: then each has a figure.
    """
    kinds = [kind for kind in _RISKS if any(kind == kind_of(one) for records in rows.values() for one in records)]
    lines = []
    for name, records in rows.items():
        cold = {one.system: one.ready_ns for one in records if kind_of(one) == "cold"}
        cells = [", ".join(_figure(one, cold) for one in records if kind_of(one) == kind) for kind in kinds]
        lines.append([name, *cells])
    return markdown_table(["ready, ms", *(f"{kind}>" for kind in kinds)], lines)


def _figure(record: BootRecord, cold: Mapping[str, int | None]) -> str:
    whole_ns = None if kind_of(record) == "cold" else cold.get(record.system)
    share = "" if not whole_ns or record.ready_ns is None else f" ({100 * record.ready_ns / whole_ns:.1f} %)"
    waited = "" if waited_ns(record) == record.ready_ns else f", waited {ms(waited_ns(record))}"
    return f"{ms(record.ready_ns)}{share}{waited}"


def _made_of(records: Sequence[BootRecord]) -> str:
    return made_of([(plain(record.system), [record]) for record in records])


def find(store: Store, name: str) -> BootRecord:
    """Return the boot of a run of `bootlab boot`, by its number or folder; or of a boot's own folder."""
    if (Path(name) / "record.json").is_file():
        return read_record(Path(name))
    boots = store.find(name).records()
    if not boots:
        raise BootlabError(f"{name}: a run without a boot on record")
    return read_record(boots[0])


def named_runs(words: Sequence[str]) -> dict[str, list[str]]:
    """Return what `NAME=RUN,RUN...` says of each row. Raises BootlabError for other words, and a name given twice."""
    rows: dict[str, list[str]] = {}
    for word in words:
        name, _, runs = word.partition("=")
        if not name or not runs:
            raise BootlabError(f"--matrix {word}: expected NAME=RUN,RUN...")
        if name in rows:
            raise BootlabError(f"--matrix {word}: there is a row {name} already")
        rows[name] = runs.split(",")
    return rows


def main() -> int:
    """Print the table; returns 2 for a run that has no boot."""
    parser = argparse.ArgumentParser(prog="scripts/power-on-table", description=__doc__)
    parser.add_argument("boots", nargs="+", metavar="RUN", help="a run of bootlab boot, by number or folder")
    parser.add_argument(
        "--matrix", action="store_true", help="each RUN is NAME=RUN,RUN...: a row NAME, a column a kind"
    )
    parser.add_argument("--runs", type=Path, default=Path("bootlab-runs"), metavar="DIR")
    given = parser.parse_args()
    try:
        store = Store(given.runs)
        if given.matrix:
            rows = named_runs(given.boots)
            found = {name: [find(store, run) for run in runs] for name, runs in rows.items()}
            print(f"{matrix(found)}\n\n{_made_of([one for boots in found.values() for one in boots])}")
        else:
            boots = [find(store, name) for name in given.boots]
            print(f"{table(boots)}\n\n{_made_of(boots)}")
    except BootlabError as error:
        print(f"power-on-table: error: {error.message}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
