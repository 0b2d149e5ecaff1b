"""A trial's result as figures for the catalogue's page: what each technique did alone."""

import shlex

from bootlab.experiments.store import Run
from bootlab.experiments.trial.result import Judged, TryResult
from bootlab.measure.record import BootRecord
from bootlab.techniques.model.verdict import Verdict
from bootlab.techniques.page.measured_figures import MeasuredFigure

_HASH_SHOWN = 12


def figures(result: TryResult, baseline: BootRecord, run: Run) -> list[MeasuredFigure]:
    """Return a figure for each technique that was tried alone; one that does not apply has none.

    `baseline`: its boot, which says kernel and disks. `run`: the trial, which says how it was asked.
    """
    words = baseline.facts.get("kernel", "").split()
    # /proc/version begins "Linux version 6.12.117 (...".
    kernel = words[2] if words[:2] == ["Linux", "version"] and len(words) > 2 else ""
    kernel = kernel or result.hashes.get("kernel", "unknown")[:_HASH_SHOWN]
    again = _words(result, run)
    disks = ", ".join(f"{disk.drive} on {disk.model}" for disk in baseline.disks)
    return [
        _figure(result, one, kernel, again).model_copy(update={"disks": disks})
        for one in result.alone
        if one.verdict is not Verdict.DOES_NOT_APPLY
    ]


def _words(result: TryResult, run: Run) -> tuple[list[str], list[str]]:
    """Return the command's words before the technique's name, and those after it."""
    options = [word for setting in run.asked.get("settings", ()) for word in ("--set", str(setting))]
    if run.asked.get("stack") is False:
        options.append("--no-stack")
    if run.asked.get("facts"):
        # Which run of `bootlab audit` they came from is not on record.
        options += ["--audit", "RUN"]
    # Null changes are made on the virtual clock only.
    for name in ("seeds", "nulls") if result.clock == "virtual" else ("seeds",):
        if name in run.asked:
            options += [f"--{name}", str(run.asked[name])]
    return ["bootlab", "try", run.file or f"{result.system}.toml"], options


def _figure(result: TryResult, one: Judged, kernel: str, again: tuple[list[str], list[str]]) -> MeasuredFigure:
    before, after = result.baseline.sizes.get("kernel"), one.sizes.get("kernel")
    saved = before - after if before is not None and after is not None and before != after else None
    return MeasuredFigure(
        technique=one.technique,
        system=result.system,
        kernel=kernel,
        clock=result.clock,
        baseline_ns=result.baseline.total_ns,
        saved_ns=one.saved_ns,
        spread_ns=one.spread_ns,
        verdict=one.verdict,
        kernel_bytes_saved=saved,
        command=shlex.join([*again[0], one.technique, *again[1]]),
        load_saved_ns=one.load_saved_ns,
        execution=one.execution,
        model=_model(result),
        proof=one.proof,
        seeds=result.seeds,
        nulls=len(result.baseline.null_members),
        fresh=(len(one.fresh_before), len(one.fresh_members)),
        ticks_moved=all(member.ticks_moved_ns for member in (*result.baseline.members, *one.members)),
        wrong=result.wrong,
        cpu=result.cpu,
        ns_per_instruction=result.ns_per_instruction,
        hashes=result.hashes,
    )


def _model(result: TryResult) -> str:
    if result.storage is not None:
        return result.storage.words
    return "" if result.board_model is None else f"board model {result.board_model.label}"
