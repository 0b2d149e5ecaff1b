"""Profiles that exports are tested with: one written down here, and random ones."""

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import CallKind, EventKind
from tests.profile.conftest import ProfileWriter, RandomBoot

FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")


def random_profile(seed: int) -> Profile:
    return parse_profile(RandomBoot(seed).finish(), FUNCTIONS, 0)


def a_boot() -> Profile:
    writer = ProfileWriter(FUNCTIONS)
    swapper, init = writer.task("swapper/0", 0), writer.task("init", 1)
    kthread = writer.task("kthreadd", 2)
    writer.spend("swapper/0-0;start_kernel", 1500)
    writer.switch(swapper, init, "swapper/0-0;start_kernel", flags=0)
    start_ns = writer.t_ns
    writer.spend("init-1;do_one_initcall", 25_000)
    writer.switch(init, kthread, "init-1;do_one_initcall;msleep;schedule")
    writer.spend('kthreadd-2;<none> & "such";', 30_001)
    writer.wake(init, kthread, "kthreadd-2;schedule")
    writer.spend("kthreadd-2;schedule", 1_000)
    writer.switch(kthread, init, "kthreadd-2;schedule")
    writer.span(start_ns, "init-1;do_one_initcall;msleep", init)
    writer.span(start_ns, "init-1;do_one_initcall", init)
    writer.call(CallKind.INITCALL, start_ns, "init-1;do_one_initcall", init, argument=0xFF)
    writer.event(EventKind.EXEC, init, "init-1;do_one_initcall", text="/init")
    writer.idle("init-1;schedule", 700)
    return parse_profile(writer.end(), FUNCTIONS, 0)
