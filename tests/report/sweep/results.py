"""Results of real sweeps and studies, and how they look on a terminal."""

import io
from pathlib import Path

from rich.console import Console

from bootlab.experiments.compression.result import CompressionResult
from bootlab.experiments.sweep.result import SweepResult

DATA = Path(__file__).parents[2] / "data" / "report"
SWEEP = SweepResult.model_validate_json((DATA / "sweep.json").read_text())
MODELS = SweepResult.model_validate_json((DATA / "sweep-models.json").read_text())
"""One key of a system file in three values."""
NOWHERE = MODELS.model_copy(
    update={"cells": [one.model_copy(update={"outcome": "hung", "ready": None}) for one in MODELS.cells]}
)
"""No place was ready."""
STUDY = CompressionResult.model_validate_json((DATA / "compression.json").read_text())


def printed(value: object, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(value)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(len(line) <= width for line in text.splitlines())
    return str(text)
