"""What a published table says: the runs of its commands, made now or kept, and the Markdown of them."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bootlab.experiments.read_result import read_result
from bootlab.experiments.store import RunKind, Store, read_run
from bootlab.experiments.trial.result import TryResult
from bootlab.measure.record_files import read_record
from scripts.publishing.boots_table import Row, boots_table
from scripts.publishing.profile_figures import require_program, require_stretch
from scripts.publishing.tables import ROOT, Published, build_words, commands, run_folder, words_and_step

BOOTLAB: Final = ".venv/bin/bootlab"
_BASELINE: Final = "baseline"
"""The step of a trial that it compares all others to, by the label of its boots."""


def measured(table: Published, kept: Path, run: str | None = None) -> str:
    """Return what a table's runs say in Markdown: those that the folder `kept` has, or new ones, which it has then.

    `run`: the one on record in their place.

    Raises ValueError and BootlabError for runs that no such table can be made of, CalledProcessError for a command that
    failed.
    """
    for build in [] if run else table.builds:
        print(f"publish: {shlex.join(build_words(build, 'bootlab'))}", flush=True)
        subprocess.run(build_words(build, BOOTLAB), check=True, cwd=ROOT)
    if table.rows:
        return _rows(table, kept)
    if run:
        # A script's runs are many: the folder that they are kept in is named.
        return _printed(table.printer, "--runs", run) if table.printer else _reported(run)
    return _tables(table, kept)


def _rows(table: Published, kept: Path) -> str:
    """Return the table of the boots of each row."""
    runs: dict[str, Path] = {}
    for words in commands(table):
        runs[shlex.join(words)] = place = run_folder(kept, [words])
        if not _finished(place):
            _run(words, place)
    rows = []
    for name, row in table.rows.items():
        words, step = words_and_step(row)
        rows.append(_row(name, runs[shlex.join(words)], step))
    return boots_table(rows, table.columns, turned=table.turned)


def _run(words: Sequence[str], place: Path) -> None:
    print(f"publish: bootlab {shlex.join(words)}", flush=True)
    try:
        subprocess.run([BOOTLAB, *words, "--runs", str(place)], check=True, cwd=ROOT)
    except subprocess.CalledProcessError:
        # It may have a result all the same, of boots that were not ready: no table is made of that.
        aside = place.with_name(f"{place.name}-failed")
        shutil.rmtree(aside, ignore_errors=True)
        if place.exists():
            place.rename(aside)
        raise


def _finished(place: Path) -> list[Path]:
    """Return the runs in a folder that ended, not those that were interrupted."""
    return [one.path for one in Store(place).runs() if one.finished]


def _row(name: str, place: Path, step: str) -> Row:
    """Return the row of the last run's boots: all of them, or those of one step of a trial and what it says of that.

    Of a profile a step is a phase, a timing or the path of a program. Raises ValueError for one that the run has not.
    """
    run = read_run(_finished(place)[-1])
    boots = run.records()
    if run.kind is RunKind.PROFILE:
        profile = json.loads(run.result_text())
        program = require_program(profile, step) if step.startswith("/") else None
        stretch = require_stretch(profile, step) if step and program is None else None
        return Row(name, [read_record(boot) for boot in boots], stretch=stretch, program=program, profile=profile)
    if not step:
        return Row(name, [read_record(boot) for boot in boots])
    of_seeds = [boot for boot in boots if re.fullmatch(rf"{re.escape(step)}-s\d+", boot.name)]
    others = [boot for boot in boots if re.fullmatch(rf"{re.escape(step)}-(null|fresh)\d+-s\d+", boot.name)]
    if not of_seeds:
        steps = ", ".join(sorted({re.sub(r"(-(null|fresh)\d+)?-s\d+$", "", boot.name) for boot in boots}))
        raise ValueError(f"{step}: no such step of {place}; there are: {steps}")
    judged = {f"alone-{one.technique}": one for one in read_result(run, TryResult).alone}
    seeds, more = ([read_record(boot) for boot in found] for found in (of_seeds, others))
    return Row(name, seeds, more, judged.get(step), baseline=step == _BASELINE)


def _tables(table: Published, kept: Path) -> str:
    """Return the tables of a run of the command, or what the script prints that stands in its place."""
    if not commands(table):
        print(f"publish: {shlex.join(table.printer)}", flush=True)
        return _printed(table.printer)
    place = run_folder(kept, commands(table))
    if len(_finished(place)) < len(commands(table)):
        # A run may look back at those before it, so half a series is of no use.
        shutil.rmtree(place, ignore_errors=True)
        for words in commands(table):
            _run(words, place)
    if table.printer:
        return _printed(table.printer, "--runs", str(place))
    return _reported("last", "--runs", str(place))


def _printed(words: list[str], *where: str) -> str:
    return subprocess.run([*words, *where], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout


def _reported(run: str, *where: str) -> str:
    return _printed([BOOTLAB, "report", run, "--markdown"], *where)
