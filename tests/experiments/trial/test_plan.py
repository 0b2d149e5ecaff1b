"""Plans name techniques that exist."""

import pytest

from bootlab.errors import InputError
from bootlab.experiments.trial.plan import PLANS, require_plan
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_names_techniques_that_exist_in_its_order(name: str) -> None:
    plan = require_plan(name)
    found = [technique.name for technique in require_techniques(load_catalogue(), plan.techniques)]
    assert len(found) == len(set(found)) >= 3
    if plan.techniques is not None:
        assert found == list(plan.techniques)


def test_an_unknown_plan_lists_those_there_are() -> None:
    with pytest.raises(InputError, match="no such plan") as caught:
        require_plan("nonsense")
    assert caught.value.hint is not None and "gain" in caught.value.hint
