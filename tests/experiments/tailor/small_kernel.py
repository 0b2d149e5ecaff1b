"""A small program as a kernel: each of its functions an object of its own, and a boot that called them."""

import subprocess
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile

from bootlab.build.kernel.calls import NamedCalls
from bootlab.build.kernel.objects import KernelObject, KernelObjects
from bootlab.experiments.tailor.code_cost import CodeCosts
from bootlab.experiments.tailor.kernel_use import KernelUse, find_use
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import EventKind
from tests.profile.conftest import ProfileWriter

COMPILER = "x86_64-linux-gnu-gcc"

SOURCE = """
#define APART __attribute__((noinline, noclone)) void
APART hook(void) { __asm__ volatile("" ::: "memory"); }
APART __x64_sys_futex(void) { __asm__ volatile("nop" ::: "memory"); }
APART serve(void) { __asm__ volatile("nop;nop" ::: "memory"); }
APART helper(void) { __asm__ volatile("nop;nop;nop" ::: "memory"); }
APART alloc(void) { __asm__ volatile("nop;nop;nop;nop" ::: "memory"); }
void (*volatile operations)(void) = serve;
APART vfs_read(void) { hook(); operations(); __x64_sys_futex(); }
APART announce(void) { helper(); alloc(); }
APART _start(void) { vfs_read(); announce(); helper(); }
"""
GIVEN = "worker-9;kthread;exec"


class SmallKernel(NamedTuple):
    """What was linked, what its boot used and what that cost."""

    objects: KernelObjects
    use: KernelUse
    costs: CodeCosts

    def index(self, name: str) -> int:
        """Return the index of a function's object."""
        return next(number for number, one in enumerate(self.objects.objects) if one.path == f"{name}.o")


def make_small_kernel(folder: Path) -> SmallKernel:
    """Compile it in an empty folder and boot it in words."""
    (folder / "program.c").write_text(SOURCE)
    words = [COMPILER, "-O1", "-nostdlib", "-static", "-no-pie", "-fno-pie", "program.c", "-o", "vmlinux"]
    subprocess.run(words, check=True, capture_output=True, cwd=folder)
    with (folder / "vmlinux").open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        found = {one.name: one["st_value"] for one in table.iter_symbols() if one["st_info"]["type"] == "STT_FUNC"}
    names, addresses = tuple(found), list(found.values())
    objects = KernelObjects(
        tuple(KernelObject(f"{name}.o", f"{name}.c", frozenset(), 1) for name in names),
        tuple((address, 1, number) for number, address in sorted(enumerate(addresses), key=lambda one: one[1])),
    )
    profile = parse_profile(_boot(names), names, 0)
    costs = CodeCosts(profile, addresses, objects, NamedCalls(folder / "vmlinux", addresses))
    return SmallKernel(objects, find_use(profile, addresses, objects), costs)


def _boot(names: tuple[str, ...]) -> bytes:
    writer = ProfileWriter(names)
    init = writer.task("init", 1)
    writer.spend("init-1;_start;announce", 10)
    writer.spend("init-1;_start;announce;helper", 20)
    writer.spend("init-1;_start;announce;helper;alloc", 30)
    worker = writer.task("worker", 9, init)
    writer.event(EventKind.FORK, init, "init-1;_start;announce;helper", a=worker)
    writer.spend("init-1;_start;announce;alloc", 40)
    writer.switch(init, worker, "init-1;_start", 0)
    writer.spend(GIVEN, 5000)
    writer.switch(worker, init, GIVEN, 0)
    # From elsewhere: not announce()'s.
    writer.spend("init-1;_start;helper", 7)
    writer.cut("init_exec")
    writer.spend("init-1;vfs_read", 100)
    writer.spend("init-1;vfs_read;hook", 3)
    writer.spend("init-1;vfs_read;serve", 5)
    writer.spend("init-1;vfs_read;__x64_sys_futex", 6)
    writer.cut("ready")
    # The check: in the job, but nothing of it is up to ready.
    writer.spend("init-1;vfs_read;hook", 900)
    return writer.end()
