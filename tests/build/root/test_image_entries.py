"""Finished images: what is in ext4 and squashfs, links among it; other file systems, damaged and missing ones."""

import stat
import subprocess
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.root.image_entries import read_image_entries
from bootlab.errors import InputError
from bootlab.process import require_program


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/tool").write_bytes(b"program")
    (root / "usr/bin/other").hardlink_to(root / "usr/bin/tool")
    (root / "bin").symlink_to("usr/bin")
    (root / "empty").mkdir()
    return root


def made(tmp_path: Path, tree: Path, kind: str) -> Path:
    image = tmp_path / f"root.{kind}"
    if kind == "squashfs":
        argv = [require_program("mksquashfs"), tree, image, "-quiet", "-no-progress"]
    else:
        argv = [require_program("mkfs.ext4"), "-q", "-d", tree, image, "4M"]
    subprocess.run(argv, check=True, capture_output=True)
    return image


@pytest.mark.parametrize("kind", ["ext4", "squashfs"])
def test_files_folders_and_links_of_an_image(kind: str, tree: Path, tmp_path: Path) -> None:
    found = read_image_entries(made(tmp_path, tree, kind), Cache(tmp_path))
    assert found is not None
    entries = {entry.path: entry for entry in found if entry.path != "lost+found"}
    assert set(entries) == {"usr", "usr/bin", "usr/bin/tool", "usr/bin/other", "bin", "empty"}
    assert entries["usr/bin/tool"].data == b"program" and entries["bin"].data == b"usr/bin"
    assert stat.S_ISLNK(entries["bin"].mode) and stat.S_ISDIR(entries["empty"].mode)
    assert not list(tmp_path.glob("bootlab-root-*"))


def test_what_is_not_read_here(tmp_path: Path) -> None:
    other = tmp_path / "root.xfs"
    other.write_bytes(b"XFSB" + bytes(4096))
    assert read_image_entries(other, Cache(tmp_path)) is None
    with pytest.raises(InputError, match="no such file"):
        read_image_entries(tmp_path / "gone", Cache(tmp_path))


@pytest.mark.parametrize(("kind", "left"), [("ext4", 2048), ("squashfs", 300)])
def test_a_damaged_image_is_told(kind: str, left: int, tree: Path, tmp_path: Path) -> None:
    image = made(tmp_path, tree, kind)
    image.write_bytes(image.read_bytes()[:left])
    with pytest.raises(InputError, match="cannot be read|no file could be read"):
        read_image_entries(image, Cache(tmp_path))
