"""Command line of `scripts/publish`: measures tables anew, writes them into their documents, keeps the record."""

import argparse
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from bootlab.errors import BootlabError
from bootlab.experiments.store import Store, read_run
from bootlab.measure.record import BootRecord
from bootlab.measure.record_files import read_record
from scripts.publishing.boots_table import Row, boots_table
from scripts.publishing.gathered import (
    GATHERED,
    as_measured,
    as_older,
    find_gathered_faults,
    read_gathered,
)
from scripts.publishing.tables import (
    RECORD,
    ROOT,
    Published,
    Recorded,
    command_line,
    commands,
    find_faults,
    first_tables,
    inputs_now,
    read_published,
    run_folder,
    text_hash,
    with_text,
    write_record,
)
from scripts.publishing.techniques import find_new_techniques, takes_whole_catalogue, techniques_now

BOOTLAB = ".venv/bin/bootlab"


def _main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/publish", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument(
        "--from",
        dest="run",
        metavar="RUN",
        help="a run on record: its path, number, or last; of a table of several runs the folder that has them",
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        type=Path,
        help="of tables of several runs: keep the runs there, and take those that are there already, whatever has "
        "changed since: begin with an empty folder",
    )
    parser.add_argument("--list", action="store_true", help="the tables there are, and what measures each")
    parser.add_argument("--check", action="store_true", help="whether they still are what was measured")
    parser.add_argument(
        "--release",
        action="store_true",
        help="with --check: a table that does not know of techniques which came since is a fault, too",
    )
    parser.add_argument(
        "--gathered",
        action="store_true",
        help="record a table that you put together, measured on the tree as it lies",
    )
    parser.add_argument("--older", action="store_true", help="say below such a table which files changed behind it")
    asked = parser.parse_args()
    tables, gathered = read_published(), read_gathered()
    if asked.list:
        for name, table in tables.items():
            print(f"{name}  {table.document}  {_all(table)}")
        for name, one in gathered.items():
            print(f"{name}  {one.document}  gathered from several runs")
        return 0
    if asked.check:
        faults = [*find_faults(tables), *find_gathered_faults(gathered)]
        older = list(find_new_techniques(tables, techniques_now()))
        for line in [*faults, *older]:
            print(line)
        if not faults:
            print(f"all {len(tables)} published and {len(gathered)} gathered tables are as recorded")
        return 1 if faults or (older and asked.release) else 0
    by_hand = asked.gathered or asked.older
    there = gathered if by_hand else tables
    unknown = [name for name in asked.names if name not in there]
    if unknown or not asked.names:
        known = ", ".join(there)
        print(f"publish: error: {', '.join(unknown) or 'no table named'}; there are: {known}", file=sys.stderr)
        return 2
    if asked.run and (by_hand or len(asked.names) != 1):
        print("publish: error: --from is for one table, and not for a gathered one", file=sys.stderr)
        return 2
    if asked.keep and (by_hand or asked.run or not all(tables[name].rows for name in asked.names)):
        print("publish: error: --keep is for tables of several runs", file=sys.stderr)
        return 2
    if asked.run and tables[asked.names[0]].rows:
        print("publish: error: --from is of one run, and this table of several: --keep FOLDER", file=sys.stderr)
        return 2
    if by_hand:
        return _record(asked.names, gathered, older=asked.older)
    return _publish(asked.names, tables, asked.run, asked.keep)


def _record(names: list[str], gathered: dict[str, Recorded], *, older: bool) -> int:
    try:
        for name in names:
            gathered[name] = (as_older if older else as_measured)(name, gathered[name])
            write_record(GATHERED, gathered)
            print(f"publish: {name}: recorded")
    except ValueError as error:
        print(f"publish: error: {error}", file=sys.stderr)
        return 1
    return 0


def _publish(names: list[str], tables: dict[str, Published], run: str | None, keep: Path | None) -> int:
    measured: dict[str, str] = {}
    try:
        for name in names:
            table, inputs = tables[name], inputs_now(tables[name])
            command = _all(table)
            if table.rows:
                said = _measured_rows(table, keep)
            elif command in measured:
                said = measured[command]
            else:
                said = measured[command] = _printed_from(table, run) if run else _measured(table)
            written = _written(name, table, said, inputs)
            # Another call may have written other tables meanwhile.
            write_record(RECORD, {**read_published(), name: written})
    except subprocess.CalledProcessError as error:
        print(f"publish: error: {shlex.join(error.cmd)} ended with {error.returncode}: {name} stays", file=sys.stderr)
        return 1
    except (ValueError, BootlabError) as error:
        print(f"publish: error: {name}: {error}", file=sys.stderr)
        return 1
    return 0


def _measured_rows(table: Published, keep: Path | None) -> str:
    """Return the table of a run for each row, but for those that are on record in the folder `keep`."""
    with tempfile.TemporaryDirectory() as folder:
        kept = keep or Path(folder)
        boots: dict[str, list[BootRecord]] = {}
        for command in dict.fromkeys(table.rows.values()):
            words = shlex.split(command)
            place = run_folder(kept, words)
            boots[command] = _kept_boots(place)
            if not boots[command]:
                print(f"publish: bootlab {command}", flush=True)
                subprocess.run([BOOTLAB, *words, "--runs", str(place)], check=True, cwd=ROOT)
                boots[command] = _kept_boots(place)
        rows = [Row(name, boots[command]) for name, command in table.rows.items()]
        return boots_table(rows, table.columns, turned=table.turned)


def _kept_boots(place: Path) -> list[BootRecord]:
    """Return the boots of the last run in a folder; none of a run that was interrupted."""
    runs = [one.path for one in Store(place).runs() if one.finished]
    return [read_record(boot) for boot in read_run(runs[-1]).records()] if runs else []


def _measured(table: Published) -> str:
    """Return the tables of a new run of the command, or what the script prints that stands in its place."""
    if not commands(table):
        print(f"publish: {shlex.join(table.printer)}", flush=True)
        return _printed(table.printer)
    with tempfile.TemporaryDirectory() as folder:
        for words in commands(table):
            print(f"publish: bootlab {shlex.join(words)}", flush=True)
            subprocess.run([BOOTLAB, *words, "--runs", folder], check=True, cwd=ROOT)
        if table.printer:
            return _printed(table.printer, "--runs", folder)
        return _reported("last", "--runs", folder)


def _printed_from(table: Published, run: str) -> str:
    # A script's runs are many: the folder that they are kept in is named.
    return _printed(table.printer, "--runs", run) if table.printer else _reported(run)


def _all(table: Published) -> str:
    words = [f"bootlab {shlex.join(one)}" for one in commands(table)]
    return "; ".join([*words, *([shlex.join(table.printer)] * bool(table.printer))])


def _printed(words: list[str], *where: str) -> str:
    return subprocess.run([*words, *where], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout


def _reported(run: str, *where: str) -> str:
    return _printed([BOOTLAB, "report", run, "--markdown"], *where)


def _written(name: str, table: Published, said: str, inputs: dict[str, str]) -> Published:
    text = f"{command_line(table)}\n\n{first_tables(said, table.tables)}"
    path = ROOT / table.document
    path.write_text(with_text(name, path.read_text(encoding="utf-8"), text), encoding="utf-8")
    print(f"publish: {name}: written into {table.document}")
    techniques = " ".join(techniques_now()) if takes_whole_catalogue(table) else ""
    return table.model_copy(update={"inputs": inputs, "text_sha256": text_hash(text), "techniques": techniques})


if __name__ == "__main__":
    try:
        sys.exit(_main())
    except KeyboardInterrupt:
        print("publish: interrupted; what was written stays, and runs that --keep has go on", file=sys.stderr)
        sys.exit(130)
