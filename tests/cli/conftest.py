"""A store with a profiled run in it, written without a boot: what the verbs show of profiles on record."""

import json
from pathlib import Path

import pytest

from bootlab.experiments.store import Run, RunKind, Store
from bootlab.measure.record import BootRecord, Outcome
from bootlab.price.traps import TrapKind
from bootlab.profile.asked.profiling import FUNCTIONS, functions_text
from bootlab.profile.recorded.about import ABOUT, PROFILE, AboutProfile
from bootlab.profile.recorded.record_types import CallKind, ChunkKind, EventKind, PageUse, Space
from bootlab.system import Booted, Kernel, Machine, MachineType, System
from tests.profile.conftest import ProfileWriter

KERNEL = (
    "start_kernel ret_from_fork kernel_init do_one_initcall tpm_init crypto_init msleep schedule do_idle "
    "cpu_startup_entry kthread cryptomgr_test alg_test __x64_sys_read entry_SYSCALL_64"
).split()
INIT = "swapper/0-1;ret_from_fork;kernel_init;do_one_initcall"
TPM = 0x1000 + 16 * KERNEL.index("tpm_init")
SYSTEM = System(
    name="made-up",
    machine=Machine(type=MachineType.Q35),
    kernel=Kernel(package="linux-image-cloud-amd64"),
    booted=Booted(mark="up"),
)


def made_up_profile(*, traps: bool = False) -> tuple[bytes, dict[str, int]]:
    """Return the profile of a boot of a few ms, ready at a mark called `up`, and its marks; with its traps counted."""
    writer, marks = ProfileWriter(tuple(KERNEL)), {"power_on": 0}

    def cut(name: str) -> None:
        writer.cut(name)
        marks[name] = writer.t_ns

    writer.spend("[firmware]", 100_000, space=Space.STAGE)
    cut("image_entry")
    writer.spend("[decompressor]", 400_000, space=Space.STAGE)
    cut("kernel_entry")
    idle, init = writer.task("swapper/0", 0), writer.task("swapper/0", 1)
    tests = writer.task("cryptomgr_test", 70)
    writer.spend("swapper/0-0;start_kernel", 300_000)
    if traps:
        writer.add(ChunkKind.TRAP, writer.node("swapper/0-0;start_kernel"), TrapKind.OUT, 0, 0x3F8, 0, 1234)
        writer.add(ChunkKind.PAGE, 0x400, writer.node("swapper/0-0;start_kernel"), PageUse.WRITTEN, 0)
    cut("start_kernel")
    writer.switch(idle, init, "swapper/0-0;start_kernel")
    cut("initcalls_start")
    begun = writer.t_ns
    writer.spend(f"{INIT};tpm_init;msleep", 50_000)
    writer.switch(init, idle, f"{INIT};tpm_init;msleep;schedule")
    writer.idle("swapper/0-0;cpu_startup_entry;do_idle", 700_000)
    writer.wake(init, idle, "swapper/0-0;cpu_startup_entry;do_idle", 1)
    writer.switch(idle, tests, "swapper/0-0;cpu_startup_entry;do_idle", 0)
    writer.spend("cryptomgr_test-70;ret_from_fork;kthread;cryptomgr_test;alg_test", 2_000_000)
    writer.switch(tests, init, "cryptomgr_test-70;ret_from_fork;kthread;cryptomgr_test", 4)
    writer.call(CallKind.INITCALL, begun, INIT, init, argument=TPM, own=50_000)
    cut("initcalls_end")
    writer.task("sh", 1, number=init)
    writer.event(EventKind.EXEC, init, "sh-1;entry_SYSCALL_64", text="/bin/sh")
    writer.spend("sh-1;[user]", 400_000)
    writer.syscall(init, "__x64_sys_read", 3, 30_000, 30_000)
    writer.spend("sh-1;entry_SYSCALL_64;__x64_sys_read", 50_000)
    cut("up")
    marks["ready"] = writer.t_ns
    writer.spend("sh-1;[user]", 900_000)
    return writer.end(), marks


def write_profile_run(
    root: Path, *, size: int | None = None, outcome: Outcome = Outcome.READY, traps: bool = False
) -> Run:
    """Write a finished run of `bootlab profile` into a store; `size`: cut its profile off there."""
    run = Store(root).start(
        RunKind.PROFILE, SYSTEM.name, {"system": "made-up.toml", "systems": {"1": json.loads(SYSTEM.model_dump_json())}}
    )
    write_profiled_boot(run, "1", size=size, outcome=outcome, traps=traps)
    return run


def write_sweep_run(root: Path, *labels: str) -> Run:
    """Write a run of `bootlab profile --vcpus 1,2` that was interrupted when the boots `labels` had ended."""
    system = json.loads(SYSTEM.model_dump_json())
    asked = {"system": "made-up.toml", "axis": "vcpus", "systems": {"vcpus-1": system, "vcpus-2": system}}
    run = Store(root).start(RunKind.PROFILE, SYSTEM.name, asked)
    for label in labels:
        write_profiled_boot(run, label)
    return run


def write_profiled_boot(
    run: Run, label: str, *, size: int | None = None, outcome: Outcome = Outcome.READY, traps: bool = False
) -> None:
    """Write a finished boot with its profile into a run."""
    directory = run.boot_directory(label)
    data, marks = made_up_profile(traps=traps)
    (directory / PROFILE).write_bytes(data[:size])
    functions = [(0x1000 + 16 * number, "-", name) for number, name in enumerate(KERNEL)]
    (directory / FUNCTIONS).write_text(functions_text(functions))
    about = AboutProfile({TPM: "device"}, ("this kernel has no types: names are fewer",), "zstd")
    (directory / ABOUT).write_text(json.dumps(about.as_json()))
    (directory / "trace.txt").write_text("bootlab-trace 1\nclock virtual 0\n")
    (directory / "console.log").write_text("[    0.000001] Linux version 6.1\n")
    if outcome is not Outcome.READY:
        marks.pop("ready")
    record = BootRecord(
        system=SYSTEM.name, clock="virtual", accelerator="tcg", ns_per_instruction=1, cpu="max", seed=1,
        outcome=outcome, detail="" if outcome is Outcome.READY else "killed by signal 9", instructions=3_300_000,
        idle_ns=700_000, marks=marks, phases=[], initcalls=[], kaslr_slide=0, facts={}, console_sha256="0" * 64,
        key="0" * 64, hashes={"kernel": "1" * 64}, host={}, argv=[], started="2026-01-01T00:00:00+00:00", wall_s=1.0,
        run=str(directory),
    )  # fmt: skip
    (directory / "record.json").write_text(record.model_dump_json(by_alias=True))


@pytest.fixture
def profile_run(tmp_path: Path) -> Run:
    """A finished run of `bootlab profile`, the only one in the store `tmp_path`."""
    return write_profile_run(tmp_path)
