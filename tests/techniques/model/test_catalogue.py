"""The catalogue finds every technique and suggests a name for an unknown one."""

import re
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.techniques.model import catalogue
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques
from bootlab.techniques.model.technique import Layer


def test_holds_every_row_of_every_layer() -> None:
    folder = Path(catalogue.__file__).parents[1]
    names = {technique.name for technique in load_catalogue()}
    # Read as text: what stands there as a name is a technique.
    files = [path for layer in Layer for path in (folder / layer.value).rglob("*.py")]
    layers = "|".join(Layer)
    found = {
        name for path in files for name in re.findall(rf'(?m)^ +(?:name=)?"((?:{layers})_\w+)",$', path.read_text())
    }
    assert len(found) > 100 and found <= names
    assert {technique.change.layer for technique in load_catalogue()} == set(Layer)


def test_is_sorted_by_layer_and_name() -> None:
    order = [(list(Layer).index(technique.change.layer), technique.name) for technique in load_catalogue()]
    assert order == sorted(order)


def test_finds_by_name_in_the_order_given() -> None:
    names = ["firmware_pvh", "cmdline_quiet", "firmware_pvh"]
    assert [one.name for one in require_techniques(load_catalogue(), names)] == ["firmware_pvh", "cmdline_quiet"]
    assert require_techniques(load_catalogue(), None) == tuple(one for one in load_catalogue() if not one.change.adds)


def test_what_adds_a_feature_is_found_by_name_only() -> None:
    assert [one.name for one in require_techniques(load_catalogue(), ["kernel_add_ext4"])] == ["kernel_add_ext4"]
    assert all("_add_" in one.name for one in load_catalogue() if one.change.adds)


def test_an_unknown_name_suggests_a_known_one() -> None:
    with pytest.raises(InputError, match="no such technique: cmdline_quite") as caught:
        require_techniques(load_catalogue(), ["cmdline_quite"])
    assert "did you mean cmdline_quiet" in (caught.value.hint or "")
