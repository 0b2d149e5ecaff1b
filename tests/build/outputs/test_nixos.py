"""NixOS's results: a system and its words, netboot's files, and what is missing."""

from pathlib import Path

import pytest

from bootlab.build.outputs.nixos import is_nixos, read_nixos
from bootlab.errors import InputError
from tests.build.outputs.folders import bzimage, write


def system(top: Path) -> Path:
    """Lay out what `nix-build -A system` leaves, whose files are links into the store."""
    store, result = top / "store", top / "result"
    write(store / "linux/bzImage", bzimage())
    write(store / "initrd/initrd")
    write(store / "system/init")
    result.mkdir()
    for name, place in (("kernel", "linux/bzImage"), ("initrd", "initrd/initrd"), ("init", "system/init")):
        (result / name).symlink_to(store / place)
    write(result / "kernel-params", "loglevel=4 net.ifnames=0\n")
    write(result / "nixos-version", "25.11.20260801.abcdef")
    return result


def test_a_system_is_ready_in_its_initrd_for_its_root_is_not_there(tmp_path: Path) -> None:
    result = system(tmp_path)
    found = read_nixos(result)
    assert is_nixos(result) and found.about == "NixOS 25.11.20260801.abcdef"
    assert found.guest.cmdline == f"init={tmp_path}/store/system/init loglevel=4 net.ifnames=0 console=ttyS0"
    assert found.kernel is not None and found.initramfs is not None and found.prompt.startswith("Stage 1")
    assert "[[disks]]" in found.missing[0]


def test_netboot_is_ready_at_its_prompt(tmp_path: Path) -> None:
    write(tmp_path / "bzImage", bzimage())
    write(tmp_path / "initrd.zst")
    write(
        tmp_path / "netboot.ipxe",
        "#!ipxe\nkernel bzImage init=/nix/store/x/init loglevel=4 console=ttyS0 ${cmdline}\ninitrd initrd\nboot\n",
    )
    found = read_nixos(tmp_path)
    assert found.guest.cmdline == "init=/nix/store/x/init loglevel=4 console=ttyS0"
    assert found.initramfs == tmp_path / "initrd.zst" and found.prompt == "login:" and not found.missing


def test_what_cannot_be_booted(tmp_path: Path) -> None:
    assert not is_nixos(tmp_path)
    write(tmp_path / "netboot.ipxe", "#!ipxe\n")
    with pytest.raises(InputError, match="no line that loads a kernel"):
        read_nixos(tmp_path)
    result = system(tmp_path / "a")
    (result / "initrd").unlink()
    with pytest.raises(InputError, match="initrd: not there"):
        read_nixos(result)


def test_a_folder_that_is_told_and_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no output of NixOS: it has neither kernel-params nor netboot") as refused:
        read_nixos(tmp_path)
    assert "name `result`" in str(refused.value.hint)
