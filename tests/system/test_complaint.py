"""What is wrong with a system is said by its key, one line for each mistake."""

import pytest
from pydantic import ValidationError

from bootlab.system import System
from bootlab.system.complaint import complaints


def test_each_mistake_has_its_key_and_what_was_given() -> None:
    with pytest.raises(ValidationError) as caught:
        System.model_validate({"name": "x", "machine": {"type": "q36"}, "kernel": {"colour": 1}, "seed": 0})
    said = complaints(caught.value)
    assert "booted: missing" in said and "kernel.colour: unknown key" in said
    assert any(line.startswith("machine.type: input should be") and line.endswith("got 'q36'") for line in said)
    assert any(line.startswith("seed: ") and line.endswith("got 0") for line in said)
    assert not any("\n" in line for line in said)
