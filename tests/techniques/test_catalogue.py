"""The catalogue finds every technique and refuses an entry that documents nothing or is called something else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bootlab.techniques
from bootlab.errors import InputError
from bootlab.techniques.catalogue import complaints_about, find_techniques, load_catalogue
from bootlab.techniques.technique import Layer, Removes, Source, Technique

GOOD = next(technique for technique in load_catalogue() if technique.name == "cmdline_quiet")


def test_holds_every_file_of_a_layer_and_at_least_26() -> None:
    folder = Path(bootlab.techniques.__file__).parent
    layers = {layer.value for layer in Layer}
    files = {path.stem for path in folder.glob("*_*.py") if path.stem.partition("_")[0] in layers}
    assert {technique.name for technique in load_catalogue()} == files
    assert len(files) >= 26
    # Of a layer whose files are not written yet there is nothing to find.
    assert {technique.layer for technique in load_catalogue()} == {
        layer for layer in Layer if layer.value in _prefixes(folder)
    }


def _prefixes(folder: Path) -> set[str]:
    return {path.stem.partition("_")[0] for path in folder.glob("*_*.py")}


def test_is_sorted_by_layer_and_name() -> None:
    order = [(list(Layer).index(technique.layer), technique.name) for technique in load_catalogue()]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": "cmdline_loud"}, "cmdline_quiet.py: name: 'cmdline_loud' is not the name of its file"),
        ({"layer": Layer.MACHINE}, "cmdline_quiet.py: layer: 'machine', but the file's name begins with 'cmdline'"),
        ({"mechanism": "It is faster."}, "cmdline_quiet.py: mechanism: 3 words, expected at least 12"),
        ({"cost": ""}, "cmdline_quiet.py: cost: 0 words, expected at least 4"),
        ({"knob": " "}, "cmdline_quiet.py: knob: 0 words, expected at least 1"),
        ({"sources": ()}, "cmdline_quiet.py: sources: empty"),
        ({"sources": (Source("", "somewhere"),)}, "cmdline_quiet.py: sources[0].figure: empty"),
        ({"sources": (Source("-1 s", " "),)}, "cmdline_quiet.py: sources[0].where: empty"),
        ({"summary": "The kernel keeps its messages"}, "cmdline_quiet.py: summary: does not complete"),
        ({"summary": "keeps the messages to itself."}, "cmdline_quiet.py: summary: does not complete"),
        ({"removes": Removes("printing")}, "cmdline_quiet.py: removes: no function and no stage"),
        ({"removes": Removes("", functions=("a",))}, "cmdline_quiet.py: removes.what: expected words"),
        (
            {"removes": Removes("it", functions=("a.isra.0",))},
            "cmdline_quiet.py: removes: 'a.isra.0': expected a function",
        ),
        ({"removes": Removes("it", functions=("a/b/c",))}, "cmdline_quiet.py: removes: 'a/b/c': expected a function"),
        (
            {"removes": Removes("it", functions=("a",), keeps=("",))},
            "cmdline_quiet.py: removes: '': expected a function",
        ),
        ({"removes": Removes("it", stages=("firmware",))}, "cmdline_quiet.py: removes.stages: 'firmware': there are"),
    ],
)
def test_refuses_an_incomplete_entry(change: dict[str, Any], complaint: str) -> None:
    found = complaints_about("cmdline_quiet", replace(GOOD, **change))
    assert len(found) == 1
    assert found[0].startswith(complaint)


def test_refuses_a_file_without_an_entry_and_an_entry_without_a_layer() -> None:
    assert complaints_about("cmdline_x", None) == ["cmdline_x.py: TECHNIQUE: expected a Technique, got NoneType"]
    assert complaints_about("loader_x", GOOD)[0].startswith("loader_x.py: name: a technique's file is called <layer>_")
    assert complaints_about("evidence", None) == []
    assert complaints_about("cmdline", None) == []
    assert complaints_about("cmdline_quiet", GOOD) == []


def test_finds_by_name_in_the_order_given() -> None:
    names = ["firmware_pvh", "cmdline_quiet", "firmware_pvh"]
    assert [one.name for one in find_techniques(load_catalogue(), names)] == ["firmware_pvh", "cmdline_quiet"]
    assert find_techniques(load_catalogue(), None) == tuple(one for one in load_catalogue() if not one.adds)


def test_what_adds_a_feature_is_found_by_name_only() -> None:
    assert [one.name for one in find_techniques(load_catalogue(), ["kernel_add_ext4"])] == ["kernel_add_ext4"]
    assert all("_add_" in one.name for one in load_catalogue() if one.adds)


def test_an_unknown_name_suggests_a_known_one() -> None:
    with pytest.raises(InputError, match="no such technique: cmdline_quite") as caught:
        find_techniques(load_catalogue(), ["cmdline_quite"])
    assert "did you mean cmdline_quiet" in (caught.value.hint or "")


def test_load_reports_every_complaint_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from bootlab.errors import BootlabError
    from bootlab.techniques import catalogue, cmdline_lpj, cmdline_quiet

    def spoil(technique: Technique) -> Technique:
        return replace(technique, sources=())

    monkeypatch.setattr(cmdline_quiet, "TECHNIQUE", spoil(cmdline_quiet.TECHNIQUE))
    monkeypatch.setattr(cmdline_lpj, "TECHNIQUE", spoil(cmdline_lpj.TECHNIQUE))
    with pytest.raises(BootlabError) as caught:
        catalogue.load_catalogue.__wrapped__()
    assert "cmdline_quiet.py: sources: empty" in caught.value.message
    assert "cmdline_lpj.py: sources: empty" in caught.value.message
