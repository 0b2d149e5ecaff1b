"""Results of trials as they are read: those of 0.1 have other words on the virtual clock, and no fresh boots."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from bootlab.experiments.trial.result import TryResult
from tests.report.trials import DATA


@pytest.fixture
def old() -> dict[str, Any]:
    """A result as 0.1 wrote it, with an ablation."""
    document: dict[str, Any] = json.loads((DATA / "try.json").read_text())
    ablated = {**document["alone"][0], "stack": "recommended", "alone_ns": None}
    return {**document, "ablation": [{**ablated, "verdict": "slower"}]}


def words(result: TryResult) -> set[str]:
    return {row.verdict.value for row in (*result.alone, *result.stack, *result.ablation)}


def test_a_result_of_0_1_is_read_in_the_words_of_its_clock(old: dict[str, Any]) -> None:
    result = TryResult.model_validate(old)
    assert [row.verdict for row in result.ablation] == ["longer"]
    assert [row.verdict for row in result.alone if row.technique == "initramfs_xz"] == ["longer"]
    assert "shorter" in {row.verdict for row in result.stack}
    assert not words(result) & {"faster", "slower"}
    assert not words(TryResult.model_validate_json(json.dumps(old))) & {"faster", "slower"}
    assert words(TryResult.model_validate({**old, "clock": "wall"})) >= {"faster", "slower"}


def test_what_0_1_did_not_boot_is_empty(old: dict[str, Any]) -> None:
    result = TryResult.model_validate(old)
    assert all(row.fresh_members == row.fresh_before == [] for row in (*result.alone, *result.stack))
    assert {end.unsteady for end in result.final.values()} == {""}


@pytest.mark.parametrize(
    "damage", [{"alone": None}, {"alone": [None]}, {"stack": [{"verdict": ["faster"]}]}, {"clock": ["virtual"]}]
)
def test_a_damaged_result_is_refused(damage: dict[str, Any], old: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TryResult.model_validate({**old, **damage})
    with pytest.raises(ValidationError):
        TryResult.model_validate([old])
