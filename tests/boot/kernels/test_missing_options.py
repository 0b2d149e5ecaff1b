"""Boots that end because something they need is not there: the cause is named, from real consoles and real archives."""

import shutil
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.system import System, read_system
from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network]

NO_HASH = b"echo hello\n"
NO_INTERPRETER = b"#!/usr/bin/python3\nprint(1)\n"


@pytest.fixture
def system() -> System:
    """The arm64 example boots fastest; without the kernel's self-tests, and without what comes after ready."""
    system = read_system(EXAMPLES / "debian-arm64.toml").with_cmdline("cryptomgr.notests", "panic=-1")
    values = {**dict(system), "check": None, "disks": (), "network": None}
    return System.model_validate(values).with_part("booted", deadline_s=12)


def detail_of(system: System, cache: Cache, folder: Path) -> str:
    directory = folder / "boot"
    directory.mkdir()
    return boot(prepare(Workshop(cache), system), directory).detail


@pytest.mark.parametrize(
    ("init", "words"),
    [
        (NO_HASH, 'neither an ELF program nor a script: it begins with "echo hello"'),
        (NO_INTERPRETER, "its interpreter, /usr/bin/python3, is not in the archive"),
        (None, "is a program for"),
    ],
    ids=["no-hash-bang", "no-interpreter", "another-machine"],
)
def test_an_init_that_cannot_be_executed(
    init: bytes | None, words: str, system: System, cache: Cache, tmp_path: Path
) -> None:
    path = tmp_path / "init"
    if init is None:
        # This host's own shell, on a machine of another kind.
        shutil.copy("/bin/sh", path)
    else:
        path.write_bytes(init)
    path.chmod(0o755)
    # Without a shell to fall back on the kernel panics at once.
    broken = system.with_part("initramfs", init=path, files={}, modules=(), busybox=False)
    assert words in detail_of(broken, cache, tmp_path)


def test_a_disk_that_only_a_module_drives(system: System, cache: Cache, tmp_path: Path) -> None:
    values = {**dict(system), "initramfs": None, "disks": ({"size_mib": 16},)}
    broken = System.model_validate(values).with_cmdline("root=/dev/vda")
    assert "root=/dev/vda" in detail_of(broken, cache, tmp_path).split("unknown-block")[1]
