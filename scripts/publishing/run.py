"""Command line of `scripts/publish`: measures tables anew, writes them into their documents, keeps the record."""

import argparse
import difflib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bootlab.errors import BootlabError
from scripts.publishing.measuring import measured
from scripts.publishing.tables import (
    ROOT,
    Published,
    changed_inputs,
    command_line,
    commands,
    find_faults,
    first_tables,
    inputs_now,
    read_published,
    text_hash,
    text_of,
    with_text,
    write_published,
)
from scripts.publishing.techniques import find_new_techniques, takes_whole_catalogue, techniques_now
from scripts.publishing.unrecorded import find_unrecorded


def _main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/publish", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a table, or a document: all tables in it")
    parser.add_argument(
        "--again",
        action="store_true",
        help="measure them again and say whether they come out as they stand; write nothing",
    )
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
        help="keep the runs there, and take those that are there already, whatever has changed since: begin with an "
        "empty folder",
    )
    parser.add_argument("--list", action="store_true", help="the tables there are, and what measures each")
    parser.add_argument("--check", action="store_true", help="whether they still are what was measured")
    parser.add_argument(
        "--release",
        action="store_true",
        help="with --check: a table that does not know of techniques which came since is a fault, too",
    )
    asked = parser.parse_args()
    tables = read_published()
    if asked.list:
        for name, table in tables.items():
            print(f"{name}  {table.document}  {_all(table)}")
        return 0
    if asked.check:
        faults = [*find_faults(tables), *find_unrecorded()]
        older = list(find_new_techniques(tables, techniques_now()))
        for line in [*faults, *older]:
            print(line)
        if not faults:
            print(f"all {len(tables)} published tables are as recorded, and no other has figures")
        return 1 if faults or (older and asked.release) else 0
    asked.names = _of_documents(asked.names, tables)
    unknown = [name for name in asked.names if name not in tables]
    if unknown or not asked.names:
        known = ", ".join([*tables, *dict.fromkeys(table.document for table in tables.values())])
        wrong = f"{', '.join(unknown)}: no such table, and no document that has any" if unknown else "no table named"
        print(f"publish: error: {wrong}; there are: {known}", file=sys.stderr)
        return 2
    if asked.run and (asked.again or len(asked.names) != 1):
        print("publish: error: --from is for one table, and not for --again", file=sys.stderr)
        return 2
    if asked.run and not tables[asked.names[0]].rows and not commands(tables[asked.names[0]]):
        print("publish: error: --from is for tables of bootlab's runs, and not of a script of its own", file=sys.stderr)
        return 2
    alone = [name for name in asked.names if not commands(tables[name])]
    if asked.keep and (asked.run or alone):
        of = f", which these have none of: {', '.join(alone)}" if alone else ""
        print(f"publish: error: --keep is for tables of bootlab's runs{of}", file=sys.stderr)
        return 2
    if asked.run and tables[asked.names[0]].rows:
        print("publish: error: --from is of one run, and this table of several: --keep FOLDER", file=sys.stderr)
        return 2
    try:
        if asked.again:
            return _again(asked.names, tables, asked.keep)
        return _publish(asked.names, tables, asked.run, asked.keep)
    except _NotMeasuredError as error:
        print(f"publish: error: {error}", file=sys.stderr)
        return 1


def _publish(names: list[str], tables: dict[str, Published], run: str | None, keep: Path | None) -> int:
    for name in names:
        _require_place(name, tables[name])
    with _kept_in(keep) as kept:
        for name in names:
            table, text = _made(name, tables[name], kept, run)
            path = ROOT / table.document
            path.write_text(with_text(name, path.read_text(encoding="utf-8"), text), encoding="utf-8")
            print(f"publish: {name}: written into {table.document}", flush=True)
            # Another call may have written other tables meanwhile.
            write_published({**read_published(), name: table})
    return 0


def _again(names: list[str], tables: dict[str, Published], keep: Path | None) -> int:
    """Say of each table whether it comes out again as it stands, and how not; nothing is written."""
    others = 0
    with _kept_in(keep) as kept:
        for name in names:
            try:
                stands = _require_place(name, tables[name])
                table, text = _made(name, tables[name], kept, None)
            except _NotMeasuredError as error:
                others += 1
                print(f"publish: {name}: cannot be measured here: {error}", flush=True)
                continue
            if stands == text:
                print(
                    f"publish: {name}: comes out again as it stands in {table.document}, to the last digit", flush=True
                )
                continue
            others += 1
            print(f"publish: {name}: does not come out as it stands in {table.document}:")
            if changed := changed_inputs(tables[name]):
                print(f"  older than {', '.join(changed)}")
            lines = difflib.unified_diff(stands.splitlines(), text.splitlines(), "as it stands", "again", lineterm="")
            print("\n".join(f"  {line}" for line in lines), flush=True)
    return 1 if others else 0


@contextmanager
def _kept_in(keep: Path | None) -> Iterator[Path]:
    """Tables of the same commands share their runs."""
    with tempfile.TemporaryDirectory() as folder:
        yield keep or Path(folder)


def _require_place(name: str, table: Published) -> str:
    """Return what stands where the table belongs, before anything is measured. Raises _NotMeasuredError."""
    try:
        stands = text_of(name, (ROOT / table.document).read_text(encoding="utf-8"))
    except OSError as error:
        raise _NotMeasuredError(f"{table.document}: {error.strerror}") from error
    if stands is None:
        raise _NotMeasuredError(f"{name}: {table.document} has not got its two comments, or has them twice")
    return stands


def _made(name: str, table: Published, kept: Path, run: str | None) -> tuple[Published, str]:
    """Return the record that is true of a table once it is measured, and its text. Raises _NotMeasuredError."""
    inputs = inputs_now(table)
    try:
        said = measured(table, kept, run)
    except subprocess.CalledProcessError as error:
        raise _NotMeasuredError(f"{shlex.join(error.cmd)} ended with {error.returncode}: {name} stays") from error
    except (ValueError, OSError, BootlabError) as error:
        raise _NotMeasuredError(f"{name}: {error}") from error
    text = f"{command_line(name, table)}\n\n{first_tables(said, table.tables)}"
    techniques = " ".join(techniques_now()) if takes_whole_catalogue(table) else ""
    return table.model_copy(update={"inputs": inputs, "text_sha256": text_hash(text), "techniques": techniques}), text


class _NotMeasuredError(Exception):
    """A table could not be made; those before it are written."""


def _of_documents(names: list[str], there: Mapping[str, Published]) -> list[str]:
    """Return the tables that are named, by themselves or by the document that they stand in, each once."""
    of = {one: [name for name, table in there.items() if table.document == os.path.normpath(one)] for one in names}
    return list(dict.fromkeys(name for one in names for name in of[one] or [one]))


def _all(table: Published) -> str:
    words = [f"bootlab {shlex.join(one)}" for one in commands(table)]
    return "; ".join([*words, *([shlex.join(table.printer)] * bool(table.printer))])


if __name__ == "__main__":
    try:
        sys.exit(_main())
    except KeyboardInterrupt:
        print("publish: interrupted; what was written stays, and runs that --keep has go on", file=sys.stderr)
        sys.exit(130)
