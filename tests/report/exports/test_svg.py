"""A flame graph as SVG that any viewer shows."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from bootlab.profile.tree.call_tree import LEAVES, CallTree, build_call_tree
from bootlab.report.exports.svg import write_svg
from tests.report.exports.boots import a_boot

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_is_well_formed_and_adds_up(tmp_path: Path) -> None:
    tree = build_call_tree(a_boot())
    for weight in ("instructions", "elapsed"):
        write_svg(tree, tmp_path / "a.svg", weight, title="a <boot>", foot="virtual clock & so on")
        root = ElementTree.parse(tmp_path / "a.svg").getroot()
        frames = {}
        for group in root.iter(f"{SVG}g"):
            title, rectangle = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
            assert title is not None and title.text and rectangle is not None
            frames[title.text] = float(rectangle.get("width", 0))
        whole = tree.total(weight)[0]
        assert f"all: {whole:,} {'instructions' if weight == 'instructions' else 'ns'}, 100.00 %" in frames
        tops = sum(int(tree.total(weight)[node]) for node in tree.children(0))
        assert tops == whole and max(frames.values()) == pytest.approx(1180, abs=0.5)
        assert any(title.startswith('<none> & "such": 30,001') for title in frames)
        assert not any("[pruned]" in title for title in frames)


def test_svg_of_nothing(tmp_path: Path) -> None:
    nothing = np.zeros(1, dtype=np.int64)
    write_svg(CallTree([*LEAVES], *[nothing] * 5, 0), tmp_path / "a.svg", "elapsed", title="", foot="")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag == f"{SVG}svg"
