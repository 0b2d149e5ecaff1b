"""Whose folder one is: by what is in it, or as it was told; what is nobody's is refused with a way out."""

from pathlib import Path

import pytest

from bootlab.build.outputs.output import BuildTool
from bootlab.build.outputs.recognise import is_output, names_output, read_output
from bootlab.errors import InputError
from tests.build.outputs.folders import YOCTO_IMAGE, buildroot, buildroot_started, write, yocto
from tests.build.outputs.test_disk_folder import SECTOR
from tests.build.outputs.test_nixos import system as nixos


def test_each_tool_is_known_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIX_STORE_DIR", str(tmp_path / "c/store"))
    write(tmp_path / "d/disk.img", SECTOR)
    write(tmp_path / "e/disk.raw", SECTOR)
    write(tmp_path / "e/disk.manifest", '{"manifest_version": 1}')
    for tool, folder in (
        (BuildTool.BUILDROOT, buildroot_started(tmp_path / "a")),
        (BuildTool.YOCTO, yocto(tmp_path / "b")),
        (BuildTool.NIXOS, nixos(tmp_path / "c")),
        (BuildTool.DEBOS, tmp_path / "d"),
        (BuildTool.MKOSI, tmp_path / "e"),
    ):
        assert names_output(folder) and is_output(folder) and read_output(folder).tool is tool


def test_a_file_stands_for_its_folder(tmp_path: Path) -> None:
    output, folder = buildroot_started(tmp_path / "a"), yocto(tmp_path / "b")
    assert read_output(output / "images/start-qemu.sh").tool is BuildTool.BUILDROOT
    conf = folder / f"{YOCTO_IMAGE}.qemuboot.conf"
    assert is_output(conf) and read_output(conf).name == YOCTO_IMAGE


def test_images_alone_are_buildroots_when_that_is_told(tmp_path: Path) -> None:
    images = buildroot(tmp_path, "bzImage", "rootfs.ext2") / "images"
    (tmp_path / "output/.config").unlink()
    with pytest.raises(InputError, match="a folder, and not the output of buildroot, yocto"):
        read_output(images)
    told = Path(f"buildroot:{images}")
    assert names_output(told)
    found = read_output(told)
    assert found.guest.arch == "x86_64" and found.rootfs == images / "rootfs.ext2"
    (images / "bzImage").unlink()
    with pytest.raises(InputError, match="neither a .config nor a kernel"):
        read_output(told)


def test_what_is_nobodys_is_refused(tmp_path: Path) -> None:
    assert not is_output(tmp_path) and not is_output(tmp_path / "gone") and not names_output(tmp_path / "gone")
    assert not names_output(Path("system.toml")) and not names_output(Path("other:folder"))
    with pytest.raises(InputError, match="gone: no such folder"):
        read_output(Path(f"yocto:{tmp_path}/gone"))
