"""Profiles of user programs: a program's own code, its libraries', its threads'; and a kernel without type tables.

The program's loops have a known number of instructions, so what is asked is where they are shown, to the instruction.
"""

import platform
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from bootlab.build.debian.packages import fetch
from bootlab.build.kernel.image import extract_vmlinux
from bootlab.build.workshop import Workshop
from bootlab.profile.recorded.record_types import EventKind, Space
from bootlab.symbols import kallsyms
from bootlab.symbols.table import read_symbols
from tests.boot.conftest import Profiled, run_profile

pytestmark = [
    pytest.mark.boot,
    pytest.mark.network,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="needs an x86-64 host: the guest runs what its cc makes"),
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("cc", "ldd", "objcopy")), reason="needs cc and binutils"
    ),
]

N = 100_000
SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE void spin(unsigned long n) { __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(n)); }
NOINLINE void leaf(void) { spin(N); __asm__ volatile(""); }
NOINLINE void outer(void) { leaf(); leaf(); spin(N / 2); __asm__ volatile(""); }
NOINLINE int compare(const void *a, const void *b) { spin(N); return *(const int *)a - *(const int *)b; }
void *thread(void *argument) { spin(3 * N); return argument; }
int main(void)
{
	int pair[] = { 2, 1 };
	pthread_t other;
	outer();
	qsort(pair, 2, sizeof *pair, compare);
	pthread_create(&other, 0, thread, 0);
	pthread_join(other, 0);
	if (fork() == 0) {
		leaf();
		_exit(0);
	}
	wait(0);
	return 0;
}
"""
INIT = """#!/bin/busybox sh
/bin/busybox mount -t proc p /proc
/bin/program
/sbin/bootlab-mark ready
"""
SYSTEM = """
[machine]
type = "q35"
[kernel]
{kernel}
cmdline = "console=ttyS0 panic=-1 cryptomgr.notests"
[initramfs]
init = "init"
[initramfs.files]
"/bin/program" = "{program}"
{libraries}
[booted]
mark = "ready"
"""
PACKAGED = 'package = "linux-image-cloud-amd64"\nsuite = "bookworm"'


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with init, `program`, `stripped` and its `program.debug`."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "init").write_text(INIT)
    (folder / "init").chmod(0o755)
    (folder / "program.c").write_text(SOURCE)
    for command in (
        f"cc -O1 -fno-optimize-sibling-calls -Wl,--build-id -DN={N} -pthread -o program program.c",
        "objcopy --only-keep-debug program program.debug",
        "objcopy --strip-all program stripped",
    ):
        subprocess.run(command.split(), cwd=folder, check=True)
    return folder


def write_system(folder: Path, name: str, program: str, kernel: str = PACKAGED) -> Path:
    libraries = [
        word for word in subprocess.check_output(["ldd", folder / "program"], text=True).split() if "/" in word
    ]
    lines = "\n".join(f'"{path}" = "{Path(path).resolve()}"' for path in libraries)
    path = folder / f"{name}.toml"
    path.write_text(SYSTEM.format(kernel=kernel, program=program, libraries=lines))
    return path


@pytest.fixture(scope="session", params=["program", "stripped"])
def profiled(request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """A boot that runs the program, with its symbols in it or beside it."""
    words = ["--symbols", str(folder / "program.debug")] if request.param == "stripped" else []
    return run_profile(write_system(folder, request.param, request.param), tmp_path_factory.mktemp("runs"), *words)


def spins(profiled: Profiled) -> Counter[tuple[str, ...]]:
    """Return instructions of spin() by its callers in the program, outermost first; kernel frames in between count."""
    profile = profiled.profile
    found: Counter[tuple[str, ...]] = Counter()
    for piece in profile.slices:
        for node, _, instructions in piece.weights[["node", "calls", "instructions"]].tolist():
            path = profile.path(node)
            if path[-1] == "spin [program]":
                found[tuple(name.removesuffix(" [program]") for name in path if name.endswith(" [program]"))] += (
                    instructions
                )
    return found


def test_loops_are_where_they_ran(profiled: Profiled) -> None:
    found = spins(profiled)
    # The compiler may order a call's first instructions its own way: few of them, for a loop of two a turn.
    expected = {
        ("_start", "main", "outer", "leaf", "spin"): 2 * 2 * N,
        ("_start", "main", "outer", "spin"): N,
        ("_start", "main", "compare", "spin"): 2 * N,
        ("thread", "spin"): 2 * 3 * N,
        ("_start", "main", "leaf", "spin"): 2 * N,
    }
    if ("main", "leaf", "spin") in found:
        expected = {callers[1:] if callers[0] == "_start" else callers: count for callers, count in expected.items()}
    assert set(found) == set(expected)
    for callers, instructions in expected.items():
        assert 0 <= found[callers] - instructions <= 20, callers


def test_what_bootlab_compiled_and_stripped_goes_by_function(folder: Path, tmp_path: Path) -> None:
    (folder / "own.c").write_text(f"#define N {N}\n{SOURCE}")
    system = folder / "own.toml"
    system.write_text(SYSTEM.format(kernel=PACKAGED, program="own.c", libraries=""))
    found: Counter[str] = Counter()
    for callers, instructions in spins(run_profile(system, tmp_path)).items():
        found[callers[-2]] += instructions
    expected = {"leaf": 2 * 3 * N, "outer": N, "compare": 2 * N, "thread": 2 * 3 * N}
    assert set(found) == set(expected)
    for caller, instructions in expected.items():
        assert 0 <= found[caller] - instructions <= 40, caller


def test_user_code_has_a_file(profiled: Profiled) -> None:
    profile = profiled.profile
    spaces = {name: Space(space) for name, space in zip(profile.names, profile.spaces.tolist(), strict=True)}
    assert spaces["qsort [libc.so.6]"] is Space.USER or spaces["qsort_r [libc.so.6]"] is Space.USER
    assert "[busybox]" in spaces
    user = profile.names.index("[user]")
    nameless = sum(
        int(piece.weights["instructions"][profile.nodes["function"][piece.weights["node"]] == user].sum())
        for piece in profile.slices
    )
    assert nameless == 0
    mapped = {event.text.split(" ", 1)[1] for event in profile.events if event.kind == EventKind.MAP}
    assert {"/bin/program", "/bin/busybox", "/sbin/bootlab-mark"} <= mapped
    assert any(path.endswith("libc.so.6") for path in mapped)


@pytest.fixture(scope="session")
def silent_kernel(folder: Path, shop: Workshop) -> Path:
    """Return a kernel whose kallsyms and BTF are gone; its System.map is beside it."""
    tree = fetch(shop, "linux-image-cloud-amd64", "bookworm", "x86_64").tree
    vmlinux = folder / "vmlinux"
    extract_vmlinux(next((tree / "boot").glob("vmlinuz-*")), vmlinux)
    lines = [f"{symbol.address:016x} {symbol.kind} {symbol.name}\n" for symbol in read_symbols(vmlinux)]
    (folder / "System.map").write_text("".join(lines))
    data = bytearray(vmlinux.read_bytes())
    tables = kallsyms.decode(bytes(data), vmlinux)
    # Linux 6.1: the number of symbols follows the base.
    assert struct.unpack_from("<I", data, tables.base_at + 8) == (len(tables.names),)
    data[tables.base_at + 8 : tables.base_at + 12] = bytes(4)
    types_at = data.index(struct.pack("<HBBI", 0xEB9F, 1, 0, 24))
    data[types_at : types_at + 2] = bytes(2)
    vmlinux.write_bytes(data)
    return vmlinux


def test_a_kernel_that_says_nothing_of_itself(folder: Path, silent_kernel: Path, tmp_path: Path) -> None:
    """With a System.map alone, functions have names; and tasks have, too, though no type says where."""
    kernel = f'image = "{silent_kernel.name}"\nentry = "pvh"\nsymbols = "System.map"'
    done = run_profile(write_system(folder, "silent", "program", kernel), tmp_path)
    assert any("CONFIG_DEBUG_INFO_BTF" in line for line in (done.directory / "profile.json").read_text().splitlines())
    assert done.document["account"]["named_kernel_share"] > 0.995
    names = {task.pid: task.names[-1][1] for task in done.profile.tasks}
    assert names[0] == "swapper/0"
    assert names[2] == "kthreadd"
    assert "init" in names[1]
    assert -1 not in names
    programs = [event.text for event in done.profile.events if event.kind == EventKind.EXEC]
    assert programs[0] == "/init"
    assert "/bin/program" in programs
    assert len(done.profile.switches) > 100
    assert set(done.profile.switches["flags"].tolist()) <= {0, 1, 5}, "whether a task slept is known"
