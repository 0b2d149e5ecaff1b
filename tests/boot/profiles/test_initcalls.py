"""The initcall table against the kernel's own account of the same boot, made by `initcall_debug`.

The kernel prints a line before and one after each call, and reads its clock between them, so what it calls the
duration lacks the printing that do_one_initcall() does within the profile's. Before the kernel counts time by the TSC
its figures are multiples of 4 ms, and only the lines' own stamps can be compared.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bootlab.importers.kernel.dmesg import KernelLog, LoggedInitcall, parse
from tests.boot.conftest import ProfileBoot, Profiled, WriteSystem

pytestmark = [pytest.mark.boot, pytest.mark.network]

INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
while read -r path; do insmod "$path"; done </etc/bootlab/modules
echo the log follows
dmesg -r
bootlab-mark ready
exec sleep 1000000000
"""
PRINTING_NS = 60_000
"""What the two lines may cost: less than 40 us, but 47 on riscv64 with a tick in them, which firmware takes first."""
REST_NS = 10_000
"""What may be left of a difference when the printing of its two lines is taken away, as the profile itself has it.

Most is some 100 ns; once a boot add_device_randomness(), at the end of do_one_initcall(), has more to do.
"""
REPORTED_NS = 1_000
"""The kernel cuts its figures to microseconds."""
TICK_NS = 4_000_000
CONSOLES = {"con_init", "hvc_console_init", "univ8250_console_init"}
MORE_CONSOLES = {"xen_cons_init", "sifive_console_init"}
"""Called by console_init() itself, not by do_one_initcall(): the profile's duration is without any printing."""


@pytest.fixture(scope="session", params=["debian-cloud", "debian-13-cloud", "debian-arm64", "debian-riscv64"])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, write_system: WriteSystem,
         profile_boot: ProfileBoot) -> tuple[Profiled, KernelLog]:  # fmt: skip
    """A profile of a boot that says itself what its initcalls took, and what it said."""
    init = tmp_path_factory.mktemp("initcalls") / "init"
    init.write_text(INIT)
    init.chmod(0o755)
    words = "panic=-1 cryptomgr.notests initcall_debug log_buf_len=4M"
    init_line = f'init = "{Path(__file__).parents[3]}/examples/cloud/init"'
    changes = (("panic=-1", words), (init_line, f'init = "{init}"'))
    # Spans short enough to have each line's printing in them.
    profiled = profile_boot(write_system(request.param, f"{request.param}-initcalls", *changes), "--span", "1000")
    console = (profiled.directory / "console.log").read_text(errors="replace")
    log = parse(console[console.index("the log follows") :].partition("\n")[2])
    assert not log.wrapped
    return profiled, log


def matched(told: tuple[Profiled, KernelLog]) -> list[tuple[dict[str, Any], LoggedInitcall]]:
    """Return each initcall as the profile has it and as the kernel told it, in the order they began."""
    profiled, log = told
    rows = profiled.document["initcalls"]["initcalls"]
    names = [call.function if call.module is None else f"{call.function} [{call.module}]" for call in log.initcalls]
    assert [row["name"] for row in rows] == names
    return list(zip(rows, log.initcalls, strict=True))


def test_every_initcall_is_in_the_table(told: tuple[Profiled, KernelLog]) -> None:
    """Those of the console drivers and of modules too, in the kernel's order, each in its thread."""
    pairs = matched(told)
    assert len(pairs) > 400
    for row, call in pairs:
        assert row["finished"]
        assert row["thread"].rpartition("-")[2] == str(call.pid), row
        assert bool(row["module"]) == (call.module is not None)
    names = {row["name"] for row, _ in pairs}
    assert names >= CONSOLES
    assert names & MORE_CONSOLES == {
        "sifive_console_init" if "riscv64" in told[0].document["system"] else "xen_cons_init"
    }
    levels = {row["level"] for row, _ in pairs}
    assert {
        "console",
        "early",
        "pure",
        "core",
        "postcore",
        "arch",
        "subsys",
        "fs",
        "device",
        "late",
        "module",
    } <= levels


def counts_from_the_start(told: tuple[Profiled, KernelLog]) -> bool:
    """Return whether the machine has one counter that the kernel never changes for another."""
    return any(arch in told[0].document["system"] for arch in ("arm64", "riscv64"))


def printing_ns(profiled: Profiled) -> dict[int, int]:
    """Return how long do_one_initcall() printed in each initcall, by the start of the initcall."""
    profile, rows = profiled.profile, profiled.document["initcalls"]["initcalls"]
    found = {row["start_ns"]: 0 for row in rows}
    ends = {row["start_ns"]: row["end_ns"] for row in rows}
    starts = np.array(sorted(found), dtype=np.int64)
    printed = {
        node
        for node in np.flatnonzero(profile.nodes["function"] == profile.names.index("_printk")).tolist()
        if profile.path(node)[-2] in ("do_one_initcall", "trace_initcall_start_cb", "trace_initcall_finish_cb")
    }
    for span in profile.spans[np.isin(profile.spans["node"], list(printed))]:
        # They do not lie in each other: what an initcall calls does not run initcalls.
        row = int(starts[np.searchsorted(starts, span["start_ns"], side="right") - 1])
        if row <= span["start_ns"] and span["end_ns"] <= ends[row]:
            found[row] += int(span["end_ns"] - span["start_ns"])
    return found


def differences_ns(told: tuple[Profiled, KernelLog], *, in_jiffies: bool) -> dict[str, int]:
    """Return by how much the profile's durations are longer than the kernel's, for one part of the boot."""
    found = {}
    for row, call in matched(told):
        assert call.reported_us is not None and call.duration_ns is not None
        if call.reported_in_jiffies == in_jiffies:
            found[row["name"]] = row["duration_ns"] - (call.duration_ns if in_jiffies else call.reported_us * 1000)
    by_size = sorted(found.values())
    print(
        f"{len(found)} in_jiffies={in_jiffies}: {by_size[0]} .. median {by_size[len(found) // 2]} .. {by_size[-5:]} ns"
    )
    return found


def test_durations_agree(told: tuple[Profiled, KernelLog]) -> None:
    """Once the kernel counts by the TSC each of its figures is the profile's, less the printing."""
    extra = differences_ns(told, in_jiffies=False)
    assert len(extra) > 300
    rows = {row["name"]: row for row, _ in matched(told)}
    exceptions = {name for name, ns in extra.items() if not -REPORTED_NS <= ns <= PRINTING_NS}
    print("exceptions", {name: extra[name] for name in sorted(exceptions)})
    # The kernel finds the name of a module's function by going through all symbols of the module, for each line anew.
    assert all(rows[name]["module"] for name in exceptions), "only modules, whose names are long to find"
    printing = printing_ns(told[0])
    rest = {name: ns - printing[rows[name]["start_ns"]] for name, ns in extra.items()}
    print(f"without the printing: {min(rest.values())} .. {max(rest.values())} ns")
    assert all(-REPORTED_NS <= ns <= REST_NS for ns in rest.values()), "printing is all that there is to explain"


def test_durations_agree_before_the_tsc(told: tuple[Profiled, KernelLog]) -> None:
    """Before, the stamps of the two lines must do.

    On arm64 and riscv64 they are as good. On x86 printk's clock is then held to the tick (kernel/sched/clock.c: an
    unstable clock) and may jump by parts of one at any time, so a few durations by it are off.
    """
    extra = differences_ns(told, in_jiffies=True)
    assert len(extra) > 200
    least = {name: -PRINTING_NS if name in CONSOLES | MORE_CONSOLES else -REPORTED_NS for name in extra}
    exceptions = {name: ns for name, ns in extra.items() if not least[name] <= ns <= PRINTING_NS}
    print("exceptions", exceptions)
    if counts_from_the_start(told):
        assert not exceptions
    else:
        assert len(exceptions) <= 10
        assert all(abs(ns) < TICK_NS for ns in exceptions.values())


def test_starts_agree(told: tuple[Profiled, KernelLog]) -> None:
    """The kernel's stamp of each start is the profile's, by one difference between the two clocks.

    On x86 printk's clock settles for some ms after the kernel's switch to the TSC, and only then keeps time.
    """
    steady = counts_from_the_start(told)
    pairs = [(row, call) for row, call in matched(told) if steady or not call.reported_in_jiffies]
    offsets = sorted(row["start_ns"] - call.start_ns for row, call in pairs if call.start_ns is not None)
    middle = offsets[len(offsets) // 2]
    near = sum(abs(offset - middle) <= PRINTING_NS for offset in offsets)
    print(f"offsets {offsets[0] - middle} .. {offsets[-1] - middle} ns around {middle}, {near} of {len(pairs)} near")
    assert near == len(pairs) if steady else near > 0.8 * len(pairs)
