"""Layers over layers: what replaces what, what whiteouts take away, where links lead, hard links over layers."""

import io
import stat
import tarfile

import pytest

from bootlab.build.given_root.layers import LayeredTree
from bootlab.build.given_root.limits import Budget
from bootlab.build.given_root.tar_stream import ReadTar, read_members
from bootlab.errors import InputError
from tests.build.given_root.images import Files, member, tar


def lay(*layers: Files | list[tuple[str, bytes | str | tarfile.TarInfo]], whiteouts: bool = True) -> dict[str, str]:
    tree = LayeredTree("image.tar")
    for files in layers:
        members = read_members(io.BytesIO(tar(files)), "image.tar", Budget("image.tar"), ReadTar())
        tree.lay(members, whiteouts=whiteouts)
    found = tree.entries()
    names = [one.path for one in found]
    assert len(names) == len(set(names))
    assert all(one.path.rpartition("/")[0] in ("", *names[:at]) for at, one in enumerate(found))
    return {one.path: f"{stat.filemode(one.mode)[0]} {one.data.decode()}".strip() for one in found}


def test_a_later_layer_replaces_and_takes_away() -> None:
    below: Files = {"etc/a": b"1", "etc/b": b"1", "www/x": b"1", "www/sub/y": b"1", "opt/z": b"1", "etc/c/d": b"1"}
    above: Files = {"etc/a": b"2", "etc/.wh.b": b"", "www/new": b"2", "www/.wh..wh..opq": b"", "etc/c": b"now a file"}
    found = lay(below, above)
    assert found == {
        "etc": "d",
        "etc/a": "- 2",
        "etc/c": "- now a file",
        "opt": "d",
        "opt/z": "- 1",
        "www": "d",
        "www/new": "- 2",
    }


def test_a_whiteout_takes_away_what_is_below_and_nothing_of_its_own_layer() -> None:
    assert lay({"a": b"1"}, {"a": b"2", ".wh.a": b""}) == {"a": "- 2"}
    assert lay({"d/old": b"1"}, [("d/own", b"2"), ("d/.wh..wh..opq", b""), (".wh..wh.plnk/x", b"")])["d/own"] == "- 2"
    # What is not there is taken away without a word, as engines do; the folder of it is not made.
    assert lay({"a": b"1"}, {"no/such/.wh.x": b""}) == {"a": "- 1"}
    with pytest.raises(InputError, match="takes away a file without a name"):
        lay({"a": b"1"}, {".wh.": b""})


def test_in_a_plain_archive_a_whiteout_is_a_file() -> None:
    assert lay({"a": b"1", ".wh.a": b"x"}, whiteouts=False) == {".wh.a": "- x", "a": "- 1"}


def test_of_entries_that_are_there_twice_the_later_counts() -> None:
    assert lay([("a", b"1"), ("a", b"2"), ("b/", ""), ("b", "-> a"), ("b/", "")]) == {"a": "- 2", "b": "d"}


def test_links_lead_within_the_root_and_nowhere_else() -> None:
    found = lay(
        {"bin": "-> usr/bin", "usr/bin/": "", "abs": "-> /usr", "out": "-> ../../../usr/bin"},
        {"bin/sh": b"1", "abs/x": b"2", "out/y": b"3"},
    )
    assert found["usr/bin/sh"] == "- 1" and found["usr/x"] == "- 2" and found["usr/bin/y"] == "- 3"
    assert found["bin"] == "l usr/bin" and found["out"] == "l ../../../usr/bin"
    with pytest.raises(InputError, match="'a': links lead in a circle"):
        lay([("a", "-> b"), ("b", "-> a"), ("a/x", b"1")])


def test_a_hard_link_is_one_file_also_over_layers() -> None:
    tree = LayeredTree("image.tar")
    layers: list[Files] = [
        {"a": b"1", "b": member(tarfile.LNKTYPE, linkname="a")},
        {"c": member(tarfile.LNKTYPE, linkname="/b"), "a": b"2"},
    ]
    for files in layers:
        tree.lay(read_members(io.BytesIO(tar(files)), "x", Budget("x"), ReadTar()), whiteouts=True)
    a, b, c = tree.entries()
    assert (a.data, a.linked) == (b"2", "") and b.data == c.data == b"1" and b.linked == c.linked != ""
    with pytest.raises(InputError, match="'b' is a hard link to 'gone', which is not there before it"):
        lay({"b": member(tarfile.LNKTYPE, linkname="gone")})
    with pytest.raises(InputError, match="which is a folder"):
        lay({"d/": "", "b": member(tarfile.LNKTYPE, linkname="d")})


def test_a_folder_keeps_what_is_in_it_and_takes_the_later_mode() -> None:
    tree = LayeredTree("x")
    for mode in (0o700, 0o1777):
        files: Files = {"d": member(tarfile.DIRTYPE, mode=mode), f"d/{mode}": b""}
        tree.lay(read_members(io.BytesIO(tar(files)), "x", Budget("x"), ReadTar()), whiteouts=True)
    folder, *rest = tree.entries()
    assert stat.S_IMODE(folder.mode) == 0o1777 and len(rest) == 2
