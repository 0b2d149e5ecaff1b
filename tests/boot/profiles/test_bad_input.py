"""Profiles that go wrong: each says so clearly, and keeps what could be saved."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.kernel.image import inspect
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.symbols.table import read_symbols
from bootlab.system import read_system
from tests.boot.conftest import ROOT, WriteSystem, run_profile

pytestmark = [pytest.mark.boot, pytest.mark.network]

NO_TESTS = ("panic=-1", "panic=-1 cryptomgr.notests")


def start_profile(system: Path, runs: Path, *words: str, **options: object) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-m", "bootlab", "profile", str(system), "--json", "--runs", str(runs), *words]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, **options)  # type: ignore[call-overload]


def qemu_of(folder: Path) -> list[int]:
    # Every QEMU of ours names its trace, which lies below the folder of the test.
    found = subprocess.run(["pgrep", "-f", f"qemu-system.*{folder}"], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def test_qemu_killed_in_mid_profile(write_system: WriteSystem, tmp_path: Path) -> None:
    system = write_system("debian-arm64", "killed")
    child = start_profile(system, tmp_path)
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        traces = list(tmp_path.rglob("trace.txt"))
        if traces and "mark initcalls_start" in traces[0].read_text():
            break
        time.sleep(0.05)
    for pid in qemu_of(tmp_path):
        os.kill(pid, signal.SIGKILL)
    printed, told = child.communicate(timeout=120)
    assert child.returncode == 1, told
    assert "Traceback" not in told
    document = json.loads(printed)
    assert document["complete"] is False
    assert document["outcome"] == "target died"
    # What ran up to the kernel's initcalls is all there, and the account of it closes.
    account = document["account"]
    assert account["instructions"] > 10_000_000
    assert account["attributed_instructions"] > 0.99 * account["instructions"]


def test_a_hang_is_profiled_up_to_its_end(write_system: WriteSystem, tmp_path: Path) -> None:
    """Stopped at its deadline QEMU still writes what the plugin held: the loop that the guest hangs in."""
    init = tmp_path / "init"
    init.write_text("#!/bin/sh\nwhile :; do :; done\n")
    init.chmod(0o755)
    example = (ROOT / "examples" / "debian-arm64.toml").read_text()
    modules = re.search(r"(?ms)^modules = \[.*?^\]\n", example)
    assert modules is not None
    system = write_system(
        "debian-arm64", "hang", NO_TESTS, (modules[0], ""), (f'init = "{ROOT}/examples/cloud/init"', f'init = "{init}"')
    )
    child = start_profile(system, tmp_path, "--deadline", "10")
    printed, told = child.communicate(timeout=100)
    assert child.returncode == 1, told
    document = json.loads(printed)
    assert (document["outcome"], document["complete"]) == ("hung", True)
    account = document["account"]
    assert account["closed"] is True
    assert (account["at"], account["virtual_ns"]) == ("end", account["whole"]["virtual_ns"])
    last = document["activity"]["phases"][-1]
    assert last["name"] == "user space, not finished"
    assert (last["start_ns"], last["end_ns"]) == (document["marks"]["first_user_instruction"], account["virtual_ns"])
    shell = next(one for one in document["tasks"] if one["pid"] == 1)
    assert document["processes"]["processes"][0]["task"] == shell["task"]
    assert document["processes"]["processes"][0]["running_ns"] > 0.5 * (last["end_ns"] - last["start_ns"])


def test_full_disk(write_system: WriteSystem, tmp_path: Path) -> None:
    """The profile outgrows a small file system in mid-boot."""
    system = write_system("debian-arm64", "full")
    script = (
        "set -e; d=$(mktemp -d); mount -t tmpfs -o size=3m none $d; "
        f"{sys.executable} -m bootlab profile {system} --runs $d || echo exit=$?"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script],
        capture_output=True, text=True, cwd=ROOT, check=False, timeout=300,
    )  # fmt: skip
    if "unshare" in done.stderr:
        pytest.skip(f"unshare: no mount namespace here: {done.stderr.strip()}")
    assert "No space left on device" in done.stderr
    assert "hint: " in done.stderr
    assert "exit=1" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="session")
def mute_kernel(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A kernel that runs but holds no symbols, and a System.map for it."""
    folder = tmp_path_factory.mktemp("mute")
    system = read_system(ROOT / "examples" / "debian-arm64.toml")
    files = prepare(Workshop(Cache.default()), system).files
    assert files.vmlinux is not None
    symbols = read_symbols(files.vmlinux)
    image = files.kernel.read_bytes()
    assert symbols.text_start is not None
    # The kernel keeps no names of its data for itself; a System.map has them, and one tells which kernel it is.
    banner = symbols.text_start + image.index(b"Linux version 6.1.0-")
    lines = [(symbol.address, symbol.kind, symbol.name) for symbol in symbols] + [(banner, "D", "linux_banner")]
    (folder / "System.map").write_text(
        "".join(f"{address:016x} {kind} {name}\n" for address, kind, name in sorted(lines))
    )
    # Each digit is a token of its own; without them the decoder finds no table, and the kernel itself only misspells.
    digits = b"".join(bytes([digit, 0]) for digit in b"0123456789")
    assert digits in image, "arm64's image is not compressed"
    mute = folder / "Image"
    mute.write_bytes(image.replace(digits, b"q\0" * 10))
    assert inspect(mute).arch == "aarch64"
    return mute, folder / "System.map"


@pytest.fixture
def mute_system(mute_kernel: tuple[Path, Path], write_system: WriteSystem) -> Path:
    kernel = 'package = "linux-image-cloud-arm64"\nsuite = "bookworm"'
    example = (ROOT / "examples" / "debian-arm64.toml").read_text()
    modules = re.search(r"(?ms)^modules = \[.*?^\]\n", example)
    assert modules is not None
    return write_system("debian-arm64", "mute", (kernel, f'image = "{mute_kernel[0]}"'), (modules[0], ""))


def test_kernel_without_symbols(mute_system: Path, mute_kernel: tuple[Path, Path], tmp_path: Path) -> None:
    """It is refused with a hint; with the hint followed, its profile is as good as any."""
    child = start_profile(mute_system, tmp_path / "without")
    _, told = child.communicate(timeout=100)
    assert child.returncode not in (0, None)
    assert "symbols" in told and "hint: " in told and "--symbols" in told
    assert "Traceback" not in told

    profiled = run_profile(mute_system, tmp_path / "with", "--symbols", str(mute_kernel[1]))
    account = profiled.document["account"]
    assert account["named_kernel_share"] > 0.995
    assert account["attributed_instructions"] > 0.995 * account["instructions"]
    assert account["mismatched_return_share"] < 0.001


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x7fELF" + bytes(200),
        b"hello\n",
        bytes(4096),
        b"ffffffc008000000 T _text\nffffffc008000100 D linux_banner\n",
        b"ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n",
    ],
    ids=["empty", "cut-elf", "text", "zeros", "another-kernel-s", "placeholder"],
)
def test_symbol_files_that_are_none(content: bytes, write_system: WriteSystem, tmp_path: Path) -> None:
    file = tmp_path / "symbols"
    file.write_bytes(content)
    child = start_profile(write_system("debian-arm64", "junk"), tmp_path / "runs", "--symbols", str(file))
    _, told = child.communicate(timeout=100)
    assert child.returncode == 2, told
    assert any(line.startswith(f"bootlab: error: {file}:") for line in told.splitlines()), "not of the system's file"
    assert "Traceback" not in told
    assert str(Cache.default().root) not in told, "a path there says nothing to a user"
    assert not qemu_of(tmp_path)
    assert not (tmp_path / "runs").exists(), "a run begins with a boot"


def test_a_point_that_cannot_start_does_not_lose_the_others(write_system: WriteSystem, tmp_path: Path) -> None:
    """A TiB of memory is more than this process may have."""
    limit = 16 << 30
    child = start_profile(
        write_system("debian-arm64", "starved", NO_TESTS), tmp_path, "--memory", "1024G,256M",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    printed, told = child.communicate(timeout=100)
    assert child.returncode == 1, told
    sweep = json.loads(printed)
    assert [(point["value"], point["outcome"]) for point in sweep["points"]] == [(1024, "not started"), (0.25, "ready")]
    assert "memory" in sweep["points"][0]["detail"]
    assert sweep["ready"] is None, "one point has no slope"
    one = [sys.executable, "-m", "bootlab", "profile", f"{sweep['run']}/boots/memory_mib-256", "--json"]
    done = subprocess.run([*one, "--runs", str(tmp_path)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ready_ns"] == sweep["points"][1]["ready_ns"]


def test_mark_on_a_symbol_that_does_not_exist(write_system: WriteSystem, tmp_path: Path) -> None:
    system = write_system("debian-arm64", "no-symbol", ("[booted]", '[marks]\nmine = "no_such_function"\n\n[booted]'))
    child = start_profile(system, tmp_path)
    _, told = child.communicate(timeout=100)
    assert child.returncode == 2
    assert "no_such_function" in told and "hint: " in told
    assert "Traceback" not in told
    assert not list(tmp_path.iterdir()), "a run begins with a boot"


def test_wall_clock_has_no_profile(write_system: WriteSystem, tmp_path: Path) -> None:
    system = write_system("debian-arm64", "wall", ('kind = "virtual"', 'kind = "wall"'))
    child = start_profile(system, tmp_path)
    _, told = child.communicate(timeout=100)
    assert child.returncode == 2
    assert "clock" in told and "virtual" in told
    assert "Traceback" not in told
    assert not list(tmp_path.iterdir()), "a run begins with a boot"


def test_qemu_without_plugins(write_system: WriteSystem, tmp_path: Path) -> None:
    """A QEMU built with --disable-plugins says `invalid option`; a script says so for the real one."""
    real = shutil.which("qemu-system-aarch64")
    assert real is not None
    program = tmp_path / "qemu-system-aarch64"
    refuse = 'for word; do [ "$word" = -plugin ] && { echo "$0: -plugin: invalid option" >&2; exit 1; }; done'
    program.write_text(f'#!/bin/sh\n{refuse}\nexec {real} "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    system = write_system("debian-arm64", "no-plugins")
    child = start_profile(system, tmp_path / "runs", env={**os.environ, "PATH": path})
    _, told = child.communicate(timeout=100)
    assert child.returncode not in (0, None)
    assert "plugin" in told
    assert "Traceback" not in told
