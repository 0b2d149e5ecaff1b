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

from bootlab.build.cache import file_sha256
from bootlab.build.root import initramfs
from bootlab.cli.app import run
from bootlab.errors import BootlabError, InputError, MissingTool, StoreError
from bootlab.process import require_program
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


@pytest.mark.promise("bootlab build initramfs")
def test_an_initramfs_from_options(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["initramfs", "--init", "init", "--file", "/etc/motd=root/etc/motd", "--no-busybox", "--compression", "xz"]
    document = _json(capsys, *words)
    assert document["schema"] == "bootlab.root/1"
    assert (document["part"], document["filesystem"], document["compression"]) == ("initramfs", "newc", "xz")
    path = Path(document["path"])
    assert (document["bytes"], document["sha256"]) == (path.stat().st_size, file_sha256(path))
    entries = initramfs.read_contents(path)
    assert entries is not None
    assert {"init", "etc/motd", "sbin/bootlab-mark"} <= {entry.path for entry in entries}
    assert not document["from_cache"]
    again = _json(capsys, *words)
    assert again["from_cache"] and again["build_s"] == 0 and again["path"] == document["path"]


@pytest.mark.promise("bootlab build rootfs")
def test_a_root_file_system_from_options_is_copied_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rootfs", "--directory", "root", "--no-busybox", "--filesystem", "squashfs", "--compression", "zstd"]
    assert run(["build", *words, "-o", "out/root.squashfs"]) == 0
    text = capsys.readouterr()
    assert "rootfs for x86_64: squashfs, zstd, made in" in text.out and "out/root.squashfs" in text.out
    assert "making the squashfs root file system" in text.err
    assert run_program(["unsquashfs", "-cat", "out/root.squashfs", "etc/motd"]).text == "hello\n"


def test_a_file_may_be_the_init_of_an_initramfs(capsys: pytest.CaptureFixture[str]) -> None:
    document = _json(capsys, "initramfs", "--file", "/init=init", "--no-busybox", "--compression", "none")
    assert b"init" in Path(document["path"]).read_bytes()


def test_ext4_options(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rootfs", "--directory", "root", "--no-busybox", "--size-mib", "5", "--no-journal", "--without", "/mnt"]
    document = _json(capsys, *words)
    assert document["bytes"] == 5 << 20 and document["filesystem"] == "ext4"
    run_program([require_program("e2fsck"), "-f", "-n", document["path"]])
    assert "mnt" not in run_program([require_program("debugfs"), "-R", "ls /", document["path"]]).text


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
        (["initramfs", "--init", "gone"], "--init gone: no such file"),
        (["initramfs", "--file", "/etc/motd=init"], r"--init \(the file that becomes /init\).* at /init,"),
        (["rootfs", "--directory", "gone"], "--directory gone: no such folder"),
        (["rootfs", "--file", "motd"], "--file motd: expected PATH=FILE"),
        (["rootfs", "--init", "init", "--filesystem", "btrfs"], r"^--filesystem: "),
        (["initramfs", "--init", "init", "--compression", "rar"], r"^--compression: "),
        (["rootfs", "--init", "init", "--compression", "xz"], "ext4 is not compressed"),
        (["rootfs", "--init", "init", "--filesystem", "erofs", "--size-mib", "9"], "--size-mib is for ext4"),
        (["rootfs", "--init", "init", "--no-busybox", "--size-mib", "1"], r"^--size-mib: 1 MiB are too few"),
        (["rootfs", "--init", "init", "--filesystem", "erofs", "--no-journal"], "--no-journal is for ext4"),
        (["rootfs", "--init", "init", "--scripts"], "--scripts are those of --packages"),
        (["rootfs", "--file", "/etc/motd=gone"], "--file /etc/motd gone: no such file"),
        (
            ["rootfs", "--init", "init", "--no-busybox", "--filesystem", "erofs", "--compression", "lzo"],
            "^--compression: erofs has no lzo",
        ),
        (
            ["initramfs", "--init", "init", "--no-busybox", "--without", "init"],
            "^--without: init leaves out /init, the",
        ),
        (["initramfs", "--init", "init", "--no-busybox", "--without", "../x"], r"^--without: '../x': not a path"),
        (["rootfs", "--init", "init", "--suite", "Bo", "--packages", "bash"], '^--suite: "Bo" is not a Debian suite'),
        (["rootfs", "--directory", "root", "-o", "root/etc/img"], "--output root/etc/img: lies in --directory"),
        (["initramfs", "--init", "init", "-o", "init"], "--output init: is --init itself"),
        (["initramfs", "--init", "init", "-o", "root"], "--output root: a folder is there"),
        (["initramfs", "--init", "init", "-o", "init/x/y"], "init is not a folder"),
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


def test_hints_are_in_options_too() -> None:
    with pytest.raises(InputError) as caught:
        run(["build", "rootfs", "--init", "init", "--no-busybox", "--size-mib", "1"])
    assert caught.value.hint == "--no-journal, or leave --size-mib out"
    with pytest.raises(InputError) as caught:
        run(["build", "rootfs", "--init", "init", "--suite", "Bo", "--packages", "bash"])
    assert caught.value.hint == 'for example "bookworm" or "trixie"'


SYSTEM = """
[machine]
type = "q35"
[kernel]
image = "root/etc/motd"
cmdline = "root=/dev/vda"
[booted]
mark = "ready"
[rootfs]
directory = "root"
busybox = false
"""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("size_mib = 1", r"^system\.toml:rootfs\.size_mib: 1 MiB are too few"),
        ('init = "init"\nwithout = ["/init"]', r"^system\.toml:rootfs\.without: /init leaves out /init"),
        ('filesystem = "erofs"\ncompression = "lzo"', r"^system\.toml:rootfs\.compression: erofs has no lzo"),
        ('filesystem = "erofs"\njournal = false', r"^system\.toml:rootfs: journal is for ext4"),
    ],
)
def test_with_a_system_file_errors_name_its_key(line: str, message: str) -> None:
    if "erofs" in line and shutil.which("mkfs.erofs", path=_ADMIN) is None:
        pytest.skip("needs erofs-utils")
    Path("system.toml").write_text(f"{SYSTEM}{line}\n")
    with pytest.raises(BootlabError, match=message) as caught:
        run(["build", "rootfs", "system.toml"])
    assert "--" not in caught.value.message


@pytest.mark.parametrize(("says", "version"), [("mkfs.erofs 1.5", r"\(1\.5\) "), ("mkfs.erofs (erofs-utils)", "")])
def test_an_mkfs_erofs_that_cannot_is_named_by_its_version_where_it_says_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, version: str
) -> None:
    # As Debian 12's: it says who it is, then that it knows no such option, and ends with an error.
    tool = tmp_path / "bin" / "mkfs.erofs"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "{says}"\necho "Available compressors are: lz4hc, lz4" >&2\nexit 1\n')
    tool.chmod(0o755)
    (tool.parent / "fakeroot").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    Path("system.toml").write_text(f'{SYSTEM}filesystem = "erofs"\ncompression = "zstd"\n')
    what = rf"compression: this machine's mkfs\.erofs {version}cannot pack with zstd"
    with pytest.raises(MissingTool, match=rf"^system\.toml:rootfs\.{what}"):
        run(["build", "rootfs", "system.toml"])
    with pytest.raises(MissingTool, match=f"^--{what}") as caught:
        run(["build", "rootfs", "--init", "init", "--no-busybox", "--filesystem", "erofs", "--compression", "zstd"])
    assert caught.value.hint == "it can with lz4hc, lz4; Debian 13's erofs-utils 1.8 has more"


def test_an_output_is_refused_where_a_system_file_reads() -> None:
    Path("system.toml").write_text(SYSTEM)
    with pytest.raises(InputError, match=r"--output root/img: lies in rootfs\.directory \(root\)"):
        run(["build", "rootfs", "system.toml", "-o", "root/img"])
    with pytest.raises(InputError, match=r"--output system\.toml: is the system file itself"):
        run(["build", "rootfs", "system.toml", "-o", "system.toml"])
    for to, message in (
        ("root", r"--to root: a folder is there"),
        ("root/list", r"--to root/list: lies in rootfs\.directory"),
        ("init/list", r"--to init/list: .*init is not a folder"),
    ):
        with pytest.raises(InputError, match=message):
            run(["unused", "system.toml", "-o", to])
    assert not Path("bootlab-runs").exists()


def test_leaving_out_an_init_of_a_folder_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("root/init").write_text("#!/bin/sh\n")
    assert run(["build", "initramfs", "--directory", "root", "--no-busybox", "--without", "init"]) == 0
    told = "--without: init leaves out the init that a kernel starts, unless kernel.cmdline names another by rdinit="
    assert told in capsys.readouterr().err


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
