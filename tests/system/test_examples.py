"""The systems that come with bootlab: listed, found by name, and copied with all that they name."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.sources import EXAMPLES, PATCHES
from bootlab.system import read_system
from bootlab.system.examples import copy_examples, find_example, list_examples


def test_every_system_file_is_listed_with_what_it_is() -> None:
    found = list_examples()
    assert {one.path for one in found} == set(EXAMPLES.rglob("*.toml"))
    assert all(one.description for one in found)


@pytest.mark.parametrize("name", ["debian-cloud", "microvm.toml", "distribution/on-disk", "inits/systemd"])
def test_a_copy_reads_like_its_original(tmp_path: Path, name: str) -> None:
    example = find_example(name)
    (copied,) = copy_examples([example], tmp_path)
    before = read_system(example.path).model_dump_json().replace(str(EXAMPLES), "")
    assert read_system(copied).model_dump_json().replace(str(tmp_path), "") == before
    for file in (path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()):
        assert file.stat().st_mode == (EXAMPLES / file.relative_to(tmp_path)).stat().st_mode


def test_a_whole_copy_has_every_file(tmp_path: Path) -> None:
    copy_examples(list_examples(), tmp_path, whole=True)
    names = [{path.relative_to(root) for path in root.rglob("*")} for root in (EXAMPLES, tmp_path)]
    assert names[0] == {name for name in names[1] if name.parts[0] != "patches"}
    assert Path("patches/u-boot/sunxi-delay.patch") in names[1]


@pytest.mark.parametrize("name", ["board", "camera-board", "microvm/limit", "persistence/kept-board"])
def test_a_copy_has_the_patches_that_it_names(tmp_path: Path, name: str) -> None:
    (copied,) = copy_examples([find_example(name)], tmp_path)
    read_system(copied)
    patches = [path.relative_to(tmp_path / "patches") for path in tmp_path.rglob("*.patch")]
    assert patches
    for path in patches:
        assert (tmp_path / "patches" / path).read_bytes() == (PATCHES / path).read_bytes()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "cloud").mkdir()
    (tmp_path / "cloud" / "init").write_text("mine")
    with pytest.raises(InputError, match="cloud/init: there already"):
        copy_examples([find_example("debian-cloud")], tmp_path)
    assert (tmp_path / "cloud" / "init").read_text() == "mine"
    assert not (tmp_path / "debian-cloud.toml").exists()


@pytest.mark.parametrize("name", ["nothing-such", "../pyproject", "", "cloud", "/etc/passwd"])
def test_a_name_of_none_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="there is no such example"):
        find_example(name)
