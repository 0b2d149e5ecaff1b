"""The systems that come with bootlab: listed, found by name, and copied with all that they name."""

import re
import subprocess
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


@pytest.mark.parametrize("into", ["own", "a folder/of mine", "."])
@pytest.mark.parametrize("name", ["persistence/kept-camera", "inits/units", "microvm/nfs-client", "desktop/fonts"])
def test_the_commands_in_a_copys_comments_name_what_lies_in_the_copy(
    name: str, into: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copy_examples([find_example(name)], Path(into))
    named = set()
    for file in Path(into).rglob("*.toml"):
        text = file.read_text()
        assert "examples/" not in text
        for line in re.findall(r"^# {3}(bootlab .*)", text, re.MULTILINE):
            said = subprocess.run(["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True)
            named |= {word for word in said.stdout.splitlines() if word.endswith(".toml")}
    assert named and all(Path(one).is_file() for one in named), named
    assert all(Path(one).is_relative_to(into) for one in named)


def test_the_comments_of_every_example_name_what_there_is() -> None:
    for example in list_examples():
        for place in re.findall(r"(?<![\w./-])examples/([\w./-]+)", example.path.read_text()):
            assert (EXAMPLES / place).exists(), f"{example.path}: {place}"


def test_examples_that_share_files_are_copied_into_one_folder(tmp_path: Path) -> None:
    copy_examples([find_example("debian-cloud")], tmp_path)
    copy_examples([find_example("debian-13-cloud")], tmp_path)
    copy_examples([find_example("debian-13-cloud")], tmp_path)
    (tmp_path / "debian-cloud.toml").write_text("mine")
    with pytest.raises(InputError, match="debian-cloud.toml: there already"):
        copy_examples([find_example("debian-cloud")], tmp_path)


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
