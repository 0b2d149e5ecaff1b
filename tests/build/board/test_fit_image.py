"""The tree of an image that SPL starts Linux from: what the devicetree tools read in it, and words that try it."""

from pathlib import Path

import pytest

from bootlab.build.board.fit_image import MACHINE_TREE, FitPart, chosen_overlay, fit_tree
from bootlab.process import run

PARTS = {
    "opensbi": FitPart("firmware", 0x200000, 270_000, 0x80100000, "opensbi"),
    "linux": FitPart("standalone", 0x250000, 3_000_000, 0x1_8020_0000, "linux"),
    "initramfs": FitPart("ramdisk", 0x600000, 77, 0x84600000),
    "chosen": FitPart("flat_dt", 0x700000, 200),
}


def read(tree: bytes, folder: Path, node: str, name: str, form: str = "s") -> str:
    path = folder / "tree.dtb"
    path.write_bytes(tree)
    return run(["fdtget", "-t", form, path, node, name]).text.strip()


def test_it_says_what_is_loaded_where_and_what_is_started(tmp_path: Path) -> None:
    tree = fit_tree(PARTS)
    assert tree == fit_tree(PARTS)
    assert read(tree, tmp_path, "/configurations", "default") == "falcon"
    falcon = "/configurations/falcon"
    assert read(tree, tmp_path, falcon, "firmware") == "opensbi"
    assert read(tree, tmp_path, falcon, "loadables") == "linux initramfs"
    assert read(tree, tmp_path, falcon, "fdt") == f"{MACHINE_TREE} chosen"
    assert read(tree, tmp_path, "/images/linux", "load", "x") == "1 80200000"
    assert read(tree, tmp_path, "/images/opensbi", "entry", "x") == "0 80100000"
    assert [read(tree, tmp_path, f"/images/{name}", "data-position", "u") for name in PARTS] == [
        str(part.place) for part in PARTS.values()
    ]
    # So SPL takes the tree that the machine gave it.
    assert MACHINE_TREE not in run(["fdtget", "-l", tmp_path / "tree.dtb", "/images"]).text.split()


@pytest.mark.parametrize(
    "words", ["console=ttyS0", r"""a="b c" d='e' f=$g;h i=j\k l=m\\'n" /* no comment */ // nor this""", ""]
)
def test_an_overlay_has_the_words_as_they_are(tmp_path: Path, words: str) -> None:
    tree = chosen_overlay(words, range(0x84600000, 0x84600100))
    node = "/fragment@0/__overlay__"
    assert read(tree, tmp_path, node, "bootargs") == words
    assert read(tree, tmp_path, node, "linux,initrd-end", "x") == "0 84600100"
    assert read(tree, tmp_path, "/fragment@0", "target-path") == "/chosen"
    alone = chosen_overlay(words, None)
    assert b"initrd" not in alone
