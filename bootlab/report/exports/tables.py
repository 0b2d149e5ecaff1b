"""The tables of a profile as CSV, one file each, and all of them as one JSON document.

A row has what the analysis has, field by field; a field of several fields becomes columns `field.part`, a list of words
is joined by `; `. Tables within a row are tables of their own, or in the JSON of `bootlab profile --json`.
"""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from bootlab.findings.analysis import Analysis
from bootlab.profile.tables.plain_data import plain
from bootlab.profile.tables.processes import Process

SCHEMA: Final = "bootlab.tables/1"

Row = dict[str, Any]
Tables = Mapping[str, list[Row]]


def profile_tables(analysis: Analysis) -> Tables:
    """Return every table of an analysis, by name; rows are flat. Times are ns since power-on."""
    every = [*analysis.processes.processes, *analysis.processes.kernel_threads, *analysis.processes.idle_tasks]
    tasks = {task.number: task.label for task in analysis.profile.tasks}
    return {
        "functions": [one.as_json() for one in analysis.tree.top_functions()],
        "initcalls": _rows(analysis.initcalls.initcalls),
        "modules": _rows(analysis.initcalls.modules),
        "probes": _rows(analysis.initcalls.probes),
        "waits": _rows(analysis.waits.waits),
        "wait_groups": _rows(analysis.waits.groups),
        "idle": [{**row, "waits": tasks.get(row.get("wait.task", -1), "")} for row in _rows(analysis.waits.idles)],
        "critical_path": _rows(analysis.critical_path.segments),
        "processes": [_process(one) for one in every],
        "phases": _rows(analysis.activity.phases),
        "devices": _parts(analysis.activity.phases, "devices"),
        "interrupts": _parts(analysis.activity.phases, "interrupts"),
        "handlers": _parts(analysis.activity.phases, "handlers"),
        "softirqs": _parts(analysis.activity.phases, "softirqs"),
        "programs": _parts(analysis.activity.phases, "programs"),
        "threads": _parts(analysis.activity.phases, "threads"),
        "syscalls": [
            {"task": process.task, "pid": process.pid, "process": process.name, **flat(plain(one))}
            for process in analysis.syscalls
            for one in process.syscalls
        ],
        "coverage": _coverage(analysis),
    }


def write_csv(tables: Tables, directory: Path) -> list[Path]:
    """Write each table that has rows as `NAME.csv`, with a heading; return the files. Raises OSError."""
    written = []
    for name, rows in tables.items():
        if rows:
            path = directory / f"{name}.csv"
            columns = list(dict.fromkeys(column for row in rows for column in row))
            with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as out:
                writer = csv.DictWriter(out, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            written.append(path)
    return written


def write_json(tables: Tables, path: Path) -> None:
    """Write all tables as one JSON document: schema, then name -> rows. Raises OSError."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        json.dump({"schema": SCHEMA, "tables": tables}, out, indent=1)
        out.write("\n")


def flat(fields: Mapping[str, Any], prefix: str = "") -> Row:
    """Return nested fields as one row; lists of anything but words and numbers are left out."""
    row: Row = {}
    for key, value in fields.items():
        if isinstance(value, Mapping):
            row |= flat(value, f"{prefix}{key}.")
        elif not isinstance(value, list):
            row[prefix + key] = value
        elif value and all(isinstance(item, str | int | float) for item in value):
            row[prefix + key] = "; ".join(map(str, value))
    return row


def _rows(results: Iterable[Any]) -> list[Row]:
    return [flat(plain(one)) for one in results]


def _parts(phases: Iterable[Any], field: str) -> list[Row]:
    return [{"phase": phase.name, **flat(plain(one))} for phase in phases for one in getattr(phase, field)]


def _process(one: Process) -> Row:
    return {"program": one.programs[-1][1] if one.programs else "", **flat(plain(one))}


def _coverage(analysis: Analysis) -> list[Row]:
    lists = analysis.coverage.as_json()
    sets = {name: set(names) for name, names in lists.items() if isinstance(names, list)}
    every = sorted(set().union(*sets.values()))
    return [
        {"function": function, **{name: int(function in names) for name, names in sets.items()}} for function in every
    ]
