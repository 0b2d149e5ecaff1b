"""The catalogue refuses what documents nothing, is called something else, stands elsewhere or is there twice."""

from dataclasses import replace
from typing import Any

import pytest

from bootlab.errors import BootlabError
from bootlab.techniques.cmdline import clocks, console
from bootlab.techniques.model import catalogue
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques
from bootlab.techniques.model.entry_checks import complaints_about
from bootlab.techniques.model.published import Published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Layer, Technique

GOOD = require_techniques(load_catalogue(), ["cmdline_quiet"])[0]
FILE = "cmdline/console.py"
ELSEWHERE = "TECHNIQUES: techniques stand in a file of their layer's folder, one of machine, "


@pytest.mark.parametrize(
    ("part", "change", "complaint"),
    [
        ("", {"name": "kernel_quiet"}, "name: 'kernel_quiet' is not cmdline_<what>, as its folder has it"),
        ("", {"name": "cmdline_"}, "name: 'cmdline_' is not cmdline_<what>"),
        ("change", {"layer": Layer.MACHINE}, "layer: 'machine', but it stands in the folder 'cmdline'"),
        ("change", {"knob": " "}, "knob: 0 words, expected at least 1"),
        ("text", {"mechanism": "It is faster."}, "mechanism: 3 words, expected at least 12"),
        ("text", {"cost": ""}, "cost: 0 words, expected at least 4"),
        ("text", {"published": ()}, "published: empty"),
        ("text", {"published": (Published("", "somewhere"),)}, "published[0].figure: empty"),
        ("text", {"published": (Published("-1 s", " "),)}, "published[0].where: empty"),
        ("text", {"summary": "The kernel keeps its messages"}, "summary: does not complete"),
        ("text", {"summary": "keeps the messages to itself."}, "summary: does not complete"),
        ("", {"removes": Removes("printing")}, "removes: no function and no stage"),
        ("", {"removes": Removes("", functions=("a",))}, "removes.what: expected words"),
        ("", {"removes": Removes("it", functions=("a.isra.0",))}, "removes: 'a.isra.0': expected a function"),
        ("", {"removes": Removes("it", functions=("a/b/c",))}, "removes: 'a/b/c': expected a function"),
        ("", {"removes": Removes("it", functions=("a",), keeps=("",))}, "removes: '': expected a function"),
        ("", {"removes": Removes("it", functions=("a",), shortens=("[x]",))}, "removes.shortens: '[x]': expected"),
        ("", {"removes": Removes("it", stages=("firmware",))}, "removes.stages: 'firmware': there are"),
    ],
)
def test_refuses_an_incomplete_technique(part: str, change: dict[str, Any], complaint: str) -> None:
    spoilt = replace(GOOD, **{part: replace(getattr(GOOD, part), **change)}) if part else replace(GOOD, **change)
    found = complaints_about({FILE: (spoilt,)})
    assert len(found) == 1
    assert found[0].startswith(f"{FILE}: {spoilt.name}: {complaint}")


@pytest.mark.parametrize(
    ("file", "table", "complaint"),
    [
        (FILE, None, "TECHNIQUES: expected a tuple of Technique, got NoneType"),
        (FILE, (), "TECHNIQUES: expected a tuple of Technique, got an empty one"),
        (FILE, GOOD, "TECHNIQUES: expected a tuple of Technique, got Technique"),
        (FILE, (GOOD, "quiet"), "TECHNIQUES[1]: expected a Technique, got str"),
        ("cmdline/__init__.py", (GOOD,), ELSEWHERE),
        ("model/console.py", (GOOD,), ELSEWHERE),
        ("cmdline.py", (GOOD,), ELSEWHERE),
    ],
)
def test_refuses_a_table_that_is_none_or_stands_elsewhere(file: str, table: object, complaint: str) -> None:
    found = complaints_about({file: table})
    assert len(found) == 1
    assert found[0].startswith(f"{file}: {complaint}")


def test_refuses_a_name_that_is_there_twice() -> None:
    twice = "cmdline_quiet: name: there are 2 techniques of this name"
    assert complaints_about({"cmdline/quiet.py": (GOOD,), FILE: (GOOD,)}) == [f"{FILE}, cmdline/quiet.py: {twice}"]
    assert complaints_about({FILE: (GOOD, GOOD)}) == [f"{FILE}: {twice}"]


def test_has_nothing_against_what_is_in_place() -> None:
    other = replace(GOOD, name="cmdline_loud")
    rooms: dict[str, object] = {"cmdline/__init__.py": None, "model/proofs.py": None}
    assert complaints_about({**rooms, FILE: (GOOD,), "cmdline/deeper/console.py": (other,)}) == []


def test_load_reports_every_complaint_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(table: tuple[Technique, ...]) -> tuple[Technique, ...]:
        return (replace(table[0], text=replace(table[0].text, published=())), *table[1:])

    monkeypatch.setattr(console, "TECHNIQUES", spoil(console.TECHNIQUES))
    monkeypatch.setattr(clocks, "TECHNIQUES", spoil(clocks.TECHNIQUES))
    with pytest.raises(BootlabError) as caught:
        catalogue.load_catalogue.__wrapped__()
    assert "cmdline/console.py: cmdline_quiet: published: empty" in caught.value.message
    assert "cmdline/clocks.py: cmdline_lpj: published: empty" in caught.value.message
