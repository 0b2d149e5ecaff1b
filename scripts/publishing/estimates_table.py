"""What `bootlab advise` estimates that techniques save, beside what a trial of them measured: for docs/profiling.md.

    .venv/bin/python -m scripts.publishing.estimates_table --runs DIR

DIR holds a run of `bootlab profile SYSTEM` and one of `bootlab try SYSTEM TECHNIQUE...`, of the same system; the last
ones are taken. Nothing is booted here.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from bootlab.errors import BootlabError
from bootlab.experiments.read_result import read_result
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.trial.result import Judged, TryResult
from bootlab.findings.advise import Advice, Remedy
from bootlab.measure.record_files import read_record
from bootlab.report.parts.figures import ms
from bootlab.report.parts.markdown import code, markdown_table, prose
from scripts.publishing.boots_table import made_of


def estimates_of(advice: Advice) -> dict[str, Remedy]:
    """Return technique -> what it is estimated to save, of those that advice names.

    Raises ValueError for a technique with several estimates, which has none as a whole.
    """
    found: dict[str, Remedy] = {}
    for item in advice.items:
        for remedy in [*([item.remedy] if item.remedy is not None else []), *item.instead]:
            if found.setdefault(remedy.technique, remedy) != remedy:
                raise ValueError(f"{remedy.technique}: advice estimates it in several parts")
    return found


def estimates_table(estimates: Mapping[str, Remedy], tried: Iterable[Judged]) -> str:
    """Return the table of what was tried, the largest estimate first.

    Raises ValueError for a technique that advice does not name, or that has no saving.
    """
    rows = []
    for one in tried:
        remedy = estimates.get(one.technique)
        if remedy is None or one.saved_ns is None:
            raise ValueError(f"{one.technique}: {one.detail if remedy is not None else 'advice does not name it'}")
        less = "< " if remedy.replaced else ""
        cells = [f"{less}{ms(remedy.estimated_ns)}", ms(remedy.others_ns), ms(one.saved_ns), one.verdict.value]
        rows.append((-remedy.estimated_ns, [code(one.technique), *cells]))
    lines = [line for _, line in sorted(rows)]
    return markdown_table(["technique", "estimated, ms>", "in other threads, ms>", "saved, ms>", "verdict"], lines)


def _last(store: Store, kind: RunKind) -> Run:
    runs = [one.path for one in store.runs() if one.finished and one.kind == kind]
    if not runs:
        raise ValueError(f"no finished run of bootlab {kind}")
    return store.find(str(runs[-1]))


def main() -> int:
    """Print the table; returns 2 where a run is missing or does not fit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR")
    store = Store(parser.parse_args().runs)
    try:
        profile, trial = _last(store, RunKind.PROFILE), _last(store, RunKind.TRY)
        document, tried = json.loads(profile.result_text()), read_result(trial, TryResult)
        table = estimates_table(estimates_of(Advice.model_validate(document["advice"])), tried.alone)
        of_baseline = [path for path in trial.records() if re.fullmatch(r"baseline-s\d+", path.name)]
        boots = [read_record(path) for path in (*profile.records(), *of_baseline)]
        if (
            len({tuple(sorted((name, one) for name, one in boot.hashes.items() if name != "plugin")) for boot in boots})
            > 1
        ):
            raise ValueError(f"{profile.path} and the baseline of {trial.path} were booted from other inputs")
        spread = f"The baseline moves by {ms(tried.baseline.spread_ns)} ms for no reason."
        print(f"{table}\n\n{prose(spread)}\n\n{made_of([('', boots)])}")
    except (BootlabError, ValueError) as error:
        print(f"estimates_table: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
