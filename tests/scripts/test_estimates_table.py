"""Estimates beside what a trial measured: which technique has which, and what has none.

The trial is a fixture with made-up figures, and so is the advice; no figure here was measured.
"""

import re
from pathlib import Path

import pytest

from bootlab.experiments.trial.result import TryResult
from bootlab.findings.advise import Advice, AdviceItem, Remedy
from scripts.publishing.estimates_table import estimates_of, estimates_table

TRIED = TryResult.model_validate_json((Path(__file__).parents[1] / "data/report/try.json").read_text()).alone


def remedy(technique: str, estimated_ns: int, **more: object) -> Remedy:
    whole = {"technique": technique, "risk": "none", "knob": "", "replaced": False, "estimated_ns": estimated_ns}
    return Remedy.model_validate({**whole, **more})


def advice(*lines: list[Remedy]) -> Advice:
    rest = {"kind": "technique", "cost_ns": 1, "share": 0.1, "instructions": 1, "idle_ns": 0, "functions": []}
    items = [
        AdviceItem.model_validate({"what": "x", "remedy": first, "instead": others, **rest})
        for first, *others in lines
    ]  # fmt: skip
    return Advice(system="x", total_ns=1, items=items, rest_ns=0, not_applicable={})


def test_estimates_stand_beside_what_was_saved_the_largest_first() -> None:
    names = ("cmdline_quiet", "firmware_qboot", "cmdline_acpi_off")
    found = estimates_of(
        advice(
            [remedy("cmdline_acpi_off", 40_000_000, others_ns=630_000), remedy("cmdline_quiet", 1_000)],
            [remedy("firmware_qboot", 50_000_000, replaced=True)],
        )
    )
    lines = estimates_table(found, [one for one in TRIED if one.technique in names]).splitlines()
    assert lines[2:] == [
        "| `firmware_qboot` | < 50.00 | 0.00 | 3.77 | shorter |",
        "| `cmdline_acpi_off` | 40.00 | 0.63 | 45.76 | shorter |",
        "| `cmdline_quiet` | 0.00 | 0.00 | 0.08 | no difference shown |",
    ]


def test_a_technique_without_an_estimate_or_without_a_saving_is_an_error() -> None:
    with pytest.raises(ValueError, match="cmdline_cryptomgr_notests: advice does not name it"):
        estimates_table({}, TRIED)
    broken = [one for one in TRIED if one.saved_ns is None][:1]
    with pytest.raises(ValueError, match=re.escape(f"{broken[0].technique}: {broken[0].detail}")):
        estimates_table({broken[0].technique: remedy(broken[0].technique, 1)}, broken)


def test_a_technique_with_several_estimates_has_none_as_a_whole() -> None:
    assert list(estimates_of(advice([remedy("a", 1)], [remedy("a", 1)]))) == ["a"]
    with pytest.raises(ValueError, match="a: advice estimates it in several parts"):
        estimates_of(advice([remedy("a", 1)], [remedy("b", 1), remedy("a", 2)]))
