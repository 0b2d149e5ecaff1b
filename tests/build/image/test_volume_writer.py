"""Files in a partition of a copy: made and replaced with their mode and folders, removed, refused where it is full."""

from pathlib import Path

import pytest

from bootlab.build.image.image_file import RAW, ImageFile
from bootlab.build.image.reading import ImageReader
from bootlab.build.image.volume_writer import VolumeWriter
from bootlab.errors import BootlabError, InputError
from bootlab.process import run
from tests.build.image.small_images import MIB, make_disk, make_ext4, make_fat

OLD = {"etc/old": b"old"}


def make_copy(tmp_path: Path, root: Path | bytes) -> ImageFile:
    path = make_disk(tmp_path / "disk.img", [make_fat(tmp_path, {}), root])
    return ImageFile(path, RAW, path.stat().st_size)


def put(image: ImageFile, path: str, data: bytes, *, number: int = 2, remove: str | None = None) -> None:
    scratch = image.path.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    writer = VolumeWriter(image.path, scratch)
    with ImageReader(image, scratch) as reader:
        volume = next(one for one in reader.volumes if one.partition.number == number)
        if remove is not None:
            writer.remove(volume, [remove], "nothing could be removed")
            return
        if volume.kind == "ext4":
            writer.make_folders(volume, path)
        writer.put(reader, volume, path, data)


def told(image: ImageFile, command: str) -> str:
    return run(["debugfs", "-R", command, f"{image.path}?offset={41 * MIB}"], package="e2fsprogs").text


def test_files_and_scripts_new_and_in_place_of_others(tmp_path: Path) -> None:
    image = make_copy(tmp_path, make_ext4(tmp_path, OLD))
    put(image, "etc/old", b"new, and longer")
    put(image, "/etc/generators/one", b"#!/bin/sh\n")
    assert told(image, "cat /etc/old") == "new, and longer" and "Mode:  0644" in told(image, "stat /etc/old")
    assert "Mode:  0755" in told(image, "stat /etc/generators/one")
    put(image, "", b"", remove="etc/old")
    assert "etc/old" not in told(image, "ls /etc") and told(image, "cat /etc/old") == ""
    run(["e2fsck", "-fn", f"{image.path}?offset={41 * MIB}"], package="e2fsprogs")
    put(image, "a.conf", b"fat", number=1)
    assert run(["mtype", "-i", f"{image.path}@@{MIB}", "::a.conf"]).text == "fat"


def test_over_folders_and_links(tmp_path: Path) -> None:
    source = tmp_path / "ext4-files"
    (source / "etc").mkdir(parents=True)
    (source / "etc/dangling").symlink_to("../run/gone")
    (source / "etc/link").symlink_to("old")
    image = make_copy(tmp_path, make_ext4(tmp_path, OLD))
    with pytest.raises(InputError, match=r"image: /etc: is a folder on it"):
        put(image, "/etc", b"x")
    with pytest.raises(InputError, match=r"/etc/link/a: /etc/link is a link on it, or a file"):
        put(image, "/etc/link/a", b"x")
    for name in ("dangling", "link"):
        put(image, f"/etc/{name}", b"in its place")
        assert told(image, f"cat /etc/{name}") == "in its place" and "Type: regular" in told(image, f"stat /etc/{name}")
    assert told(image, "cat /etc/old") == "old"
    run(["e2fsck", "-fn", f"{image.path}?offset={41 * MIB}"], package="e2fsprogs")


def test_what_is_not_there_is_not_removed(tmp_path: Path) -> None:
    image = make_copy(tmp_path, make_ext4(tmp_path, OLD))
    with pytest.raises(BootlabError, match="image: nothing could be removed: "):
        put(image, "", b"", remove="etc/none")


def test_no_inode_and_no_block_is_left(tmp_path: Path) -> None:
    source, root = tmp_path / "files", tmp_path / "few.img"
    source.mkdir()
    (source / "old").write_bytes(b"old")
    root.write_bytes(bytes(16 * MIB))
    run(["mke2fs", "-q", "-t", "ext4", "-N", "16", "-d", source, root], package="e2fsprogs")
    free = int(
        next(line for line in run(["dumpe2fs", "-h", root]).text.splitlines() if "Free inodes" in line).split()[-1]
    )
    image = make_copy(tmp_path, root)
    for number in range(free):
        put(image, f"file{number}", b"x")
    with pytest.raises(InputError, match=r"partition 2 \(ext4, 16 MiB\) has no room for /one: no more files"):
        put(image, "one", b"x")
    with pytest.raises(InputError, match=r"partition 2 \(ext4, 16 MiB\) has no room for /folder: "):
        put(image, "folder/one", b"x")
    put(image, "old", b"other")


def test_a_file_system_that_is_not_written(tmp_path: Path) -> None:
    image = make_copy(tmp_path, bytes(4 * MIB))
    with pytest.raises(InputError, match="one is on unknown, which bootlab reads and cannot write"):
        put(image, "one", b"x")
