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


def test_a_key_of_another_kind_is_told_in_words_of_a_system_file() -> None:
    timings, disks, screen = {"a": "b"}, "sda", {"marks": 5}
    given = {"machine": {"type": "q35"}, "kernel": {"image": 1}, "timings": timings, "disks": disks, "screen": screen}
    with pytest.raises(ValidationError) as caught:
        System.model_validate({"name": "x", "booted": {"mark": "ready"}, **given})
    assert sorted(complaints(caught.value)) == [
        "disks: expected a list, got 'sda'",
        "kernel.image: expected a path, which is text, got 1",
        "screen.marks: expected a table of keys, got 5",
        "timings.a: expected a table of keys, got 'b'",
    ]
