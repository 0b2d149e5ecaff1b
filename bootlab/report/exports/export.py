"""Writes a profile in the formats of other tools, by name."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from bootlab.errors import InputError, StoreError
from bootlab.findings.analysis import Analysis
from bootlab.profile.tree.call_tree import Weight
from bootlab.profile.tree.differential import compare_trees
from bootlab.report.exports.folded import write_folded, write_folded_difference
from bootlab.report.exports.kvm import kvm_trees
from bootlab.report.exports.perfetto import write_perfetto
from bootlab.report.exports.svg import write_svg
from bootlab.report.exports.tables import profile_tables, write_csv, write_json
from bootlab.report.parts.figures import clock_of, visible

Files = dict[str, Path]
_WEIGHTS: Final[tuple[Weight, ...]] = ("instructions", "elapsed")


def export_profile(analysis: Analysis, form: str, directory: Path) -> Files:
    """Write a profile in one of FORMATS and return the files by what they are.

    Raises InputError for a format that there is not, StoreError when the directory cannot be written.
    """
    if form not in FORMATS:
        raise InputError(f"--export {form}: no such format", hint=f"there are {', '.join(FORMATS)}")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return FORMATS[form](analysis, directory)
    except OSError as error:
        raise _no_place(directory, error) from error


def export_difference(before: Analysis, after: Analysis, directory: Path) -> Files:
    """Write two profiles over each other as folded stacks and return the files by what they are. Raises StoreError."""
    trees = compare_trees(before.tree, after.tree)
    files = {}
    try:
        for weight in _WEIGHTS:
            path = directory / f"profile.difference.{weight}.folded"
            write_folded_difference(trees, path, weight)
            files[f"folded stacks of both, {weight}"] = path
    except OSError as error:
        raise _no_place(directory, error) from error
    return files


def expect_writable(directory: Path) -> None:
    """Make the directory and try whether files can be made in it. Raises StoreError where they cannot."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise _no_place(directory, error) from error


def _no_place(directory: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{directory}: cannot write exports: {error.strerror or error}",
        hint="--to DIR names a folder that can be written; bootlab profile RUN --export FORMAT exports it again",
    )


def _folded(analysis: Analysis, directory: Path) -> Files:
    files = {}
    for weight in _WEIGHTS:
        path = directory / f"profile.{weight}.folded"
        write_folded(analysis.tree, path, weight)
        files[f"folded stacks, {weight}"] = path
    for one in kvm_trees(analysis):
        path = directory / f"profile.{one.file}.folded"
        write_folded(one.tree, path, "elapsed")
        files[f"folded stacks, {one.what}"] = path
    return files


def _perfetto(analysis: Analysis, directory: Path) -> Files:
    path = directory / "profile.perfetto.json"
    write_perfetto(
        analysis.profile,
        path,
        marks=analysis.record.marks,
        initcalls=analysis.initcalls,
        kernel_threads={thread.task for thread in analysis.processes.kernel_threads},
    )
    return {"trace for ui.perfetto.dev": path}


def _svg(analysis: Analysis, directory: Path) -> Files:
    files = {}
    for weight in _WEIGHTS:
        path = directory / f"profile.{weight}.svg"
        title = f"{visible(analysis.record.system)}: power-on to {analysis.goal}, {weight}"
        # Threads without work would fill the picture.
        write_svg(analysis.tree.busy(), path, weight, title=title, foot=clock_of([analysis.record]))
        files[f"flame graph, {weight}"] = path
    for one in kvm_trees(analysis):
        path = directory / f"profile.{one.file}.svg"
        title = f"{visible(analysis.record.system)}: power-on to {analysis.goal}, {one.what}"
        write_svg(one.tree, path, "elapsed", title=title, foot=clock_of([analysis.record]), unit=one.unit)
        files[f"flame graph, {one.what}"] = path
    return files


def _csv(analysis: Analysis, directory: Path) -> Files:
    folder = directory / "tables"
    folder.mkdir(exist_ok=True)
    return {f"table of {path.stem}": path for path in write_csv(profile_tables(analysis), folder)}


def _json(analysis: Analysis, directory: Path) -> Files:
    path = directory / "tables.json"
    write_json(profile_tables(analysis), path)
    return {"all tables": path}


FORMATS: Final[Mapping[str, Callable[[Analysis, Path], Files]]] = {
    "folded": _folded,
    "perfetto": _perfetto,
    "svg": _svg,
    "csv": _csv,
    "json": _json,
}
"""Name of a format -> what writes it."""
