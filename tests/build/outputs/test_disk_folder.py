"""Folders whose system is one disk image: mkosi's with its manifest, debos's, and those with several or none."""

import json
from pathlib import Path

import pytest

from bootlab.build.outputs.disk_folder import find_disks, is_mkosi, read_disk_folder
from bootlab.build.outputs.output import BuildTool
from bootlab.errors import InputError
from tests.build.outputs.folders import write

SECTOR = bytes(510) + b"\x55\xaa" + bytes(1 << 16)


def test_mkosis_disk_and_what_lies_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "image_1.raw", SECTOR)
    (tmp_path / "image.raw").symlink_to("image_1.raw")
    write(tmp_path / "image.efi", b"MZ" + bytes(600))
    manifest = {"manifest_version": 1, "config": {"name": "image", "distribution": "debian", "release": "trixie"}}
    write(tmp_path / "image.manifest", json.dumps(manifest))
    found = read_disk_folder(tmp_path)
    assert is_mkosi(tmp_path) and found.tool is BuildTool.MKOSI and found.about == "mkosi: image debian trixie"
    assert found.image is not None and found.image.resolve() == tmp_path / "image_1.raw"
    assert "image.efi" in found.also and len(find_disks(tmp_path)) == 1


def test_an_image_alone(tmp_path: Path) -> None:
    write(tmp_path / "debian.img", SECTOR)
    write(tmp_path / "rootfs.tar.gz", b"\x1f\x8b")
    found = read_disk_folder(tmp_path)
    assert not is_mkosi(tmp_path) and found.tool is BuildTool.DEBOS and found.name == "debian"
    assert found.also["rootfs.tar.gz"].startswith("not booted")


def test_several_and_none_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no disk image in it"):
        read_disk_folder(tmp_path)
    write(tmp_path / "a.raw", SECTOR)
    write(tmp_path / "b.raw", SECTOR)
    write(tmp_path / "c.manifest", "[")
    with pytest.raises(InputError, match="2 disk images:\n.*a.raw\n.*b.raw"):
        read_disk_folder(tmp_path)
