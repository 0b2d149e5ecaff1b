"""QEMU's program: which version it is, in its own words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.errors import MissingTool
from bootlab.system import System
from bootlab.targets.qemu.program import _firmware_folders, find_option_rom, plugin_environment, probe_qemu_version


def fake_qemu(folder: Path, first_line: str) -> Path:
    program = folder / "qemu-system-x86_64"
    program.write_text(f"#!/bin/sh\necho '{first_line}'\necho 'Copyright'\n")
    program.chmod(0o755)
    return program


def test_version_with_its_packagers(tmp_path: Path) -> None:
    program = fake_qemu(tmp_path, "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)")
    assert probe_qemu_version(program) == "10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)"


def test_version_without_a_packager(tmp_path: Path) -> None:
    assert probe_qemu_version(fake_qemu(tmp_path, "QEMU emulator version 9.2.0")) == "9.2.0"


def test_a_missing_qemu_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingTool, match="program not found"):
        probe_qemu_version(tmp_path / "qemu-system-none")


@pytest.fixture
def roms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which the QEMU of PATH says that it has its files."""
    program = tmp_path / "qemu-system-x86_64"
    program.write_text(f"#!/bin/sh\necho '{tmp_path}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    _firmware_folders.cache_clear()
    yield tmp_path
    _firmware_folders.cache_clear()


def test_a_cards_rom_is_looked_for_in_a_machine_without_one_too(roms: Path) -> None:
    """Only so does its boot show that the firmware starts none."""
    given = {"name": "image", "machine": {"type": "q35"}, "image": {"path": "d.img"}, "booted": {"console": "login:"}}
    with_it, without = (System.model_validate({**given, "network": {"option_rom": has}}) for has in (True, False))
    assert find_option_rom(with_it) is None, "this QEMU has no such file"
    rom = roms / "efi-virtio.rom"
    rom.touch()
    assert find_option_rom(with_it) == find_option_rom(without) == rom
    assert find_option_rom(System.model_validate(given)) is None


@pytest.mark.parametrize(
    ("version", "interface"),
    [
        ("9.2.0", "4"),
        ("10.2.1 (v10.2.1-dirty)", "4"),
        ("11.0.1", "6"),
        ("11.1.3 (Debian 1:11.1.3+ds-1)", "7"),
        ("11.1.50 (v11.1.0-120-gabcdef)", "7"),
        ("12.0.0", "7"),
    ],
)
def test_the_plugin_asks_each_qemu_for_an_interface_that_it_serves(
    tmp_path: Path, version: str, interface: str
) -> None:
    program = fake_qemu(tmp_path, f"QEMU emulator version {version}")
    assert plugin_environment(program) == {"BOOTLAB_QEMU_PLUGIN_VERSION": interface}
