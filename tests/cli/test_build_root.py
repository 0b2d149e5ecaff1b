"""`bootlab build initramfs` and `bootlab build rootfs`: from options and from a system file, and what is refused."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bootlab.build import initramfs
from bootlab.build.cache import file_sha256
from bootlab.cli.app import run
from bootlab.errors import BootlabError, InputError, StoreError
from bootlab.process import find_program
from bootlab.process import run as run_program

_ADMIN = "/usr/sbin:/sbin:/usr/bin:/bin"

pytestmark = [
    pytest.mark.skipif(shutil.which("debugfs", path=_ADMIN) is None, reason="needs e2fsprogs"),
    pytest.mark.skipif(shutil.which("sqfstar", path=_ADMIN) is None, reason="needs squashfs-tools"),
]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("init").write_text("#!/bin/sh\n")
    Path("root/etc").mkdir(parents=True)
    Path("root/etc/motd").write_text("hello\n")


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["build", *words, "--json"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def test_an_initramfs_from_options(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["initramfs", "--init", "init", "--file", "/etc/motd=root/etc/motd", "--no-busybox", "--compression", "xz"]
    document = _json(capsys, *words)
    assert document["schema"] == "bootlab.root/1"
    assert (document["part"], document["filesystem"], document["compression"]) == ("initramfs", "newc", "xz")
    path = Path(document["path"])
    assert (document["bytes"], document["sha256"]) == (path.stat().st_size, file_sha256(path))
    entries = initramfs.contents(path)
    assert entries is not None
    assert {"init", "etc/motd", "sbin/bootlab-mark"} <= {entry.path for entry in entries}
    assert not document["from_cache"]
    again = _json(capsys, *words)
    assert again["from_cache"] and again["build_s"] == 0 and again["path"] == document["path"]


def test_a_root_file_system_from_options_is_copied_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rootfs", "--directory", "root", "--no-busybox", "--filesystem", "squashfs", "--compression", "zstd"]
    assert run(["build", *words, "-o", "out/root.squashfs"]) == 0
    text = capsys.readouterr()
    assert "rootfs for x86_64: squashfs, zstd, made in" in text.out and "out/root.squashfs" in text.out
    assert "making the squashfs root file system" in text.err
    assert run_program(["unsquashfs", "-cat", "out/root.squashfs", "etc/motd"]).text == "hello\n"


def test_ext4_options(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rootfs", "--directory", "root", "--no-busybox", "--size-mib", "5", "--no-journal", "--without", "/mnt"]
    document = _json(capsys, *words)
    assert document["bytes"] == 5 << 20 and document["filesystem"] == "ext4"
    run_program([find_program("e2fsck"), "-f", "-n", document["path"]])
    assert "mnt" not in run_program([find_program("debugfs"), "-R", "ls /", document["path"]]).text


def test_a_system_file_says_what_to_build_and_its_boots_use_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    Path("system.toml").write_text(
        '[machine]\ntype = "q35"\n[kernel]\nimage = "init"\ncmdline = "root=/dev/vda"\n[booted]\nmark = "ready"\n'
        '[initramfs]\ninit = "init"\nbusybox = false\ncompression = "lz4"\n'
        '[rootfs]\ndirectory = "root"\nbusybox = false\nfilesystem = "squashfs"\n'
    )
    assert _json(capsys, "initramfs", "system.toml")["compression"] == "lz4"
    first = _json(capsys, "rootfs", "system.toml")
    assert first["filesystem"] == "squashfs"
    given = _json(capsys, "rootfs", "--directory", "root", "--no-busybox", "--filesystem", "squashfs")
    assert given["path"] == first["path"] and given["from_cache"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["initramfs"], "what is to be in the initramfs"),
        (["rootfs"], "what is to be in the rootfs"),
        (["rootfs", "--no-busybox"], "what is to be in the rootfs"),
        (["rootfs", "gone.toml"], r"gone\.toml: no such file"),
        (["initramfs", "--init", "gone"], "no such file: gone"),
        (["rootfs", "--directory", "gone"], "--directory gone: no such folder"),
        (["rootfs", "--file", "motd"], "--file motd: expected PATH=FILE"),
        (["rootfs", "--init", "init", "--filesystem", "btrfs"], r"^--filesystem: "),
        (["initramfs", "--init", "init", "--compression", "rar"], r"^--compression: "),
        (["rootfs", "--init", "init", "--compression", "xz"], "ext4 is not compressed"),
        (["rootfs", "--init", "init", "--filesystem", "erofs", "--size-mib", "9"], "size_mib is for ext4"),
        (["rootfs", "--init", "init", "--no-busybox", "--size-mib", "1"], r"^--size-mib: 1 MiB are too few"),
        (["rootfs", "--init", "init", "--modules", "ext4"], "--modules: of which kernel"),
        (["rootfs", "--init", "init", "--arch", "vax"], "--arch vax: not known"),
        (["initramfs", "--init", "init", "--no-busybox", "--file", "/sbin/bootlab-mark=init"], "^--file /sbin/bootlab"),
        (["rootfs", "--init", "init", "--packages", "Bad_Name"], '^--packages: "Bad_Name" is not a Debian package'),
    ],
)
def test_wrong_use_names_the_option(words: list[str], message: str) -> None:
    if "erofs" in words and shutil.which("mkfs.erofs", path=_ADMIN) is None:
        pytest.skip("needs erofs-utils")
    with pytest.raises(BootlabError, match=message) as caught:
        run(["build", *words])
    assert caught.value.exit_code == 2
    assert caught.value.hint or "no such f" in caught.value.message


def test_options_beside_a_system_file_are_refused() -> None:
    with pytest.raises(InputError, match=r"--packages, --no-journal cannot be given with it"):
        run(["build", "rootfs", "system.toml", "--packages", "bash", "--no-journal"])


def test_a_system_that_has_none_or_a_finished_one() -> None:
    text = '[machine]\ntype = "q35"\n[kernel]\nimage = "init"\n[booted]\nmark = "ready"\n[initramfs]\npath = "init"\n'
    Path("system.toml").write_text(text)
    with pytest.raises(InputError, match=r"system\.toml:rootfs: this system has none"):
        run(["build", "rootfs", "system.toml"])
    with pytest.raises(InputError, match=r"system\.toml:initramfs\.path: a finished file"):
        run(["build", "initramfs", "system.toml"])


def test_an_output_that_cannot_be_written() -> None:
    with pytest.raises(StoreError, match="--output: /proc/nothing"):
        run(["build", "initramfs", "--init", "init", "--no-busybox", "-o", "/proc/nothing/out"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_leaves_nothing_half_made(
    tmp_path: Path, number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    # Noise that xz takes seconds over.
    Path("root/large").write_bytes(random.Random(1).randbytes(48 << 20))
    words = ["rootfs", "--directory", "root", "--no-busybox", "--filesystem", "squashfs", "--compression", "xz"]
    child = subprocess.Popen(
        [sys.executable, "-m", "bootlab", "build", *words], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert child.stderr is not None
    assert "making the squashfs" in child.stderr.readline()
    folder = tmp_path / "cache" / "rootfs"
    for _ in range(200):
        if any(folder.glob(".*/made")):
            break
        time.sleep(0.05)
    os.kill(child.pid, number)
    rest = child.stderr.read()
    assert child.wait() == (130 if number is signal.SIGINT else -signal.SIGKILL)
    if number is signal.SIGINT:
        assert "bootlab: error: interrupted" in rest and list(folder.iterdir()) == []
    Path("root/large").unlink()
    Path("root/large").write_text("small")
    document = _json(capsys, *words)
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == [Path(document["path"]).name]
