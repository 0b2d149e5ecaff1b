"""QEMU's program: which version it is, in its own words."""

from pathlib import Path

import pytest

from bootlab.errors import MissingTool
from bootlab.targets.qemu.program import plugin_environment, probe_qemu_version


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
