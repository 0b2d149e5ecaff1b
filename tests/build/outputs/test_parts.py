"""Parts of an output: each a file in its folder, and not an empty one, by whatever name or link."""

from pathlib import Path

import pytest

from bootlab.build.outputs.output import BuildOutput
from bootlab.build.outputs.parts import expect_parts
from bootlab.build.outputs.recognise import read_output
from bootlab.errors import InputError
from tests.build.outputs.folders import YOCTO_IMAGE, buildroot, buildroot_started, write, yocto
from tests.build.outputs.test_disk_folder import SECTOR
from tests.build.outputs.test_nixos import system as nixos

OUTSIDE = "outside of its folder: refused"


@pytest.mark.parametrize("name", ["/etc/passwd", "../../other.img", "out.img", "below/other.img"])
def test_a_script_names_no_file_outside_of_the_folder(name: str, tmp_path: Path) -> None:
    output = buildroot_started(tmp_path, f"exec qemu-system-x86_64 -kernel bzImage -drive file={name},if=virtio")
    (output / "images/out.img").symlink_to("/etc/passwd")
    write(tmp_path / "elsewhere/other.img")
    (output / "images/below").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=OUTSIDE):
        read_output(output)


def linked(path: Path, target: Path) -> Path:
    """Put a link in the place of a file, and return the folder that it is in."""
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    return path.parent


def test_no_link_leads_out_of_any_tools_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIX_STORE_DIR", str(tmp_path / "e/store"))
    secret = write(tmp_path / "secret", SECTOR)
    write(tmp_path / "d/disk.img", SECTOR)
    for folder in (
        linked(buildroot(tmp_path / "a", "bzImage", "rootfs.ext2") / "images/rootfs.ext2", secret),
        linked(yocto(tmp_path / "b") / f"{YOCTO_IMAGE}.ext4.zst", secret),
        linked(yocto(tmp_path / "c") / "fw.elf", secret),
        linked(tmp_path / "d/disk.img", secret),
        linked(nixos(tmp_path / "e") / "initrd", secret),
    ):
        for conf in folder.glob(f"{YOCTO_IMAGE}.qemuboot.conf"):
            conf.write_text(conf.read_text() + "qb_default_bios = fw.elf\n" * (folder / "fw.elf").exists())
        with pytest.raises(InputError, match=f"leads to {secret}, which lies {OUTSIDE}"):
            read_output(folder)


def test_links_within_the_folder_and_into_nixs_store_are_the_tools_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = yocto(tmp_path / "a")
    assert (folder / f"{YOCTO_IMAGE}.ext4.zst").is_symlink() and read_output(folder).rootfs is not None
    (tmp_path / "link").symlink_to(folder)
    assert read_output(tmp_path / "link").folder == tmp_path / "link"
    monkeypatch.chdir(folder.parent)
    assert read_output(Path(folder.name)).kernel is not None
    result = nixos(tmp_path / "b")
    with pytest.raises(InputError, match=OUTSIDE):
        read_output(result)
    monkeypatch.setenv("NIX_STORE_DIR", str(tmp_path / "b/store"))
    assert read_output(result).kernel is not None


def started(tmp_path: Path) -> tuple[BuildOutput, Path]:
    """Return the output of a QEMU defconfig, and the root in it."""
    output = read_output(buildroot_started(tmp_path))
    assert output.rootfs is not None
    return output, output.rootfs


def test_what_is_missing_is_called_so(tmp_path: Path) -> None:
    output, root = started(tmp_path)
    linked(root, Path("/nowhere/rootfs.ext2"))
    with pytest.raises(InputError, match=r"rootfs\.ext2: a link to /nowhere/rootfs\.ext2, which is missing, and Build"):
        expect_parts(output)
    root.unlink()
    with pytest.raises(InputError, match=r"rootfs\.ext2: not there, and Buildroot 2026\.02\.3 .* boots from it"):
        expect_parts(output)
    root.mkdir()
    with pytest.raises(InputError, match=r"rootfs\.ext2: not a file, and"):
        expect_parts(output)


def test_an_empty_part_is_refused(tmp_path: Path) -> None:
    output, root = started(tmp_path)
    root.write_bytes(b"")
    with pytest.raises(InputError, match=r"rootfs\.ext2: an empty file, and Buildroot"):
        expect_parts(output)
