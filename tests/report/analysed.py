"""Analyses of made-up boots, for tests of what is shown of a profile: one that can be counted by hand, and any other.

What follows from a profile is found by the code that finds it in a real one; only advice is made up.
"""

from collections.abc import Mapping
from pathlib import Path

from bootlab.findings.advise import Advice, AdviceItem, Remedy
from bootlab.findings.analysis import Analysis
from bootlab.measure.record import BootRecord, Outcome, PhaseRecord
from bootlab.profile.recorded.about import AboutProfile
from bootlab.profile.recorded.profile import LAST_SLICE, Profile
from bootlab.profile.recorded.reader import read_profile
from bootlab.profile.recorded.record_types import CallKind, EventKind, Space, SwitchFlag
from bootlab.profile.tables.account import make_account
from bootlab.profile.tables.activity import find_activity
from bootlab.profile.tables.coverage import find_coverage
from bootlab.profile.tables.initcalls import find_initcalls
from bootlab.profile.tables.processes import find_processes
from bootlab.profile.tables.syscalls import find_syscalls
from bootlab.profile.tree.call_tree import build_call_tree
from bootlab.profile.waits.critical_path import find_critical_path
from bootlab.profile.waits.idle_blame import find_waits
from bootlab.system import read_system
from bootlab.timeline import marks as m
from bootlab.timeline.phases import cut
from tests.profile.conftest import ProfileWriter

EXAMPLE = Path(__file__).parents[2] / "examples" / "debian-cloud.toml"
FUNCTIONS = ("start_kernel", "outer", "inner", "msleep", "do_one_initcall", "__x64_sys_read", "asm_common_interrupt")


def small_profile(folder: Path, *, extra: int = 0, name: str = "helper", whole: bool = True) -> Profile:
    """Return a profile of 100 us that can be counted by hand. `extra`: instructions more in `inner`.

    `name`: of a user process's function. `whole` False leaves out the end, as a killed QEMU does.
    """
    w = ProfileWriter(FUNCTIONS)
    w.spend("[firmware]", 10_000, space=Space.STAGE)
    w.cut(m.IMAGE_ENTRY)
    idle, init = w.task("swapper/0", 0), w.task("init", 1)
    w.spend("swapper/0-0;start_kernel", 20_000)
    w.cut(m.START_KERNEL)
    w.switch(idle, init, "swapper/0-0;start_kernel", SwitchFlag(0))
    began = w.t_ns
    w.spend("init-1;outer", 5_000)
    w.spend("init-1;outer;inner", 3_000 + extra)
    # Outer calls itself: a match inside a match.
    w.spend("init-1;outer;inner;outer", 2_000, calls=4)
    w.span(began, "init-1;outer", init)
    w.call(CallKind.INITCALL, began, "init-1;outer", init, argument=0x1000, own=w.t_ns - began)
    slept = w.t_ns
    w.switch(init, idle, "init-1;msleep")
    w.idle("swapper/0-0;start_kernel", 30_000)
    w.spend("swapper/0-0;asm_common_interrupt", 1_000)
    w.wake(init, idle, "swapper/0-0;asm_common_interrupt", 1)
    w.switch(idle, init, "swapper/0-0;start_kernel", SwitchFlag(0))
    w.span(slept, "init-1;msleep", init)
    helper = w.task(name, 2, init)
    w.event(EventKind.FORK, init, "init-1;outer", a=helper)
    w.spend("init-1;outer", 4_000)
    w.switch(init, helper, "init-1;msleep")
    w.event(EventKind.EXEC, helper, f"{name}-2", text=f"/bin/{name}")
    w.spend(f"{name}-2;{name} [busybox]", 15_000)
    w.syscall(helper, "__x64_sys_read", 7, 900, 700)
    w.cut(m.READY)
    w.spend(f"{name}-2;__x64_sys_read", 10_000)
    path = folder / "profile.bin"
    path.write_bytes(w.end() if whole else w.data())
    return read_profile(path, list(FUNCTIONS), 0)


def analysis_of(profile: Profile, *, system: str = "made-up", hostile: str = "") -> Analysis:
    """Return the analysis of a made-up boot whose marks are its cuts. `hostile`: text for all that a guest decides."""
    record = _record(profile, system, hostile)
    slices = profile.up_to(m.READY)
    path = find_critical_path(profile, record.marks)
    tree = build_call_tree(profile, slices)
    return Analysis(
        system=read_system(EXAMPLE), record=record, profile=profile,
        about=AboutProfile({}, (hostile,) if hostile else (), "lz4"), tree=tree, whole_tree=build_call_tree(profile),
        account=make_account(profile, tree),
        initcalls=find_initcalls(profile, {0x1000: hostile or "first_initcall"}, {}),
        waits=find_waits(profile, path), critical_path=path, processes=find_processes(profile),
        activity=find_activity(profile, record.marks), disk_callers=(), disk_files=(), syscalls=find_syscalls(profile),
        coverage=find_coverage(profile), advice=_advice(system, record, hostile), directory=Path("/nowhere"),
    )  # fmt: skip


def _record(profile: Profile, system: str, hostile: str) -> BootRecord:
    ends = {one.name: one.end_ns for one in profile.slices if one.name != LAST_SLICE}
    marks: Mapping[str, int] = {m.POWER_ON: 0, **ends}
    phases = [
        PhaseRecord(name=one.name, start=one.start, end=one.end, start_ns=one.start_ns, duration_ns=one.duration_ns)
        for one in cut(marks)
    ]
    ready = m.READY in marks
    return BootRecord(
        system=system, clock="virtual", accelerator="tcg", ns_per_instruction=1 << profile.shift, cpu="max", seed=1,
        outcome=Outcome.READY if ready else Outcome.TARGET_DIED, detail=hostile, instructions=None, idle_ns=None,
        marks=dict(marks), phases=phases, initcalls=[], kaslr_slide=None, facts={}, console_sha256="0" * 64,
        key="1" * 64, hashes={"kernel": "2" * 64}, host={}, argv=["qemu", hostile], started="2026-01-01T00:00:00Z",
        wall_s=1.0, run="/nowhere",
    )  # fmt: skip


def _advice(system: str, record: BootRecord, hostile: str) -> Advice:
    total_ns = record.marks.get(m.READY, 1)
    remedy = Remedy(technique="cmdline_quiet", risk="none", knob="quiet", replaced=False, estimated_ns=6_000)
    items = [
        AdviceItem(what=hostile or "printing", kind="technique", cost_ns=5_000, share=5_000 / total_ns,
                   instructions=5_000, idle_ns=0, functions=["outer"], remedy=remedy, instead=[remedy]),
        AdviceItem(what="function inner", kind="function", cost_ns=3_000, share=3_000 / total_ns, instructions=3_000,
                   idle_ns=0, functions=["inner"]),
    ]  # fmt: skip
    return Advice(system=system, total_ns=total_ns, items=items, rest_ns=total_ns - 8_000, not_applicable={})
