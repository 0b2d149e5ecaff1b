"""When the objects of a small kernel ran: in an initcall, before init, for the job, or beside it."""

from bootlab.build.kernel.objects import KernelObject, KernelObjects
from bootlab.experiments.tailor.kernel_use import Use, find_use
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import CallKind, EventKind
from tests.profile.conftest import ProfileWriter

FUNCTIONS = (
    "start_kernel",
    "do_one_initcall",
    "disk_init",
    "setup",
    "vfs_read",
    "do_exit",
    "exit_sem",
    "crypto_test",
    "unused",
    "tcp_rcv",
    "nowhere",
)
BASE = 0xFFFFFFFF81000000
ADDRESSES = [BASE + 0x100 * number for number in range(len(FUNCTIONS))]
# One object for each function, but for the last, which no object holds.
OBJECTS = KernelObjects(
    tuple(KernelObject(f"{name}.o", None, frozenset(), 0x100) for name in FUNCTIONS[:-1]),
    tuple((address, 0x100, number) for number, address in enumerate(ADDRESSES[:-1])),
)


def test_uses() -> None:
    writer = ProfileWriter(FUNCTIONS)
    swapper, init, kthreadd, manager = (
        writer.task(name, pid) for name, pid in (("swapper/0", 0), ("init", 1), ("kthreadd", 2), ("cryptomgr_test", 40))
    )
    writer.task("cryptomgr_test", 40, kthreadd, number=manager)
    writer.spend("swapper/0-0;start_kernel;setup", 100)
    writer.cut("initcalls_start")
    start_ns = writer.t_ns
    writer.spend("init-1;do_one_initcall;disk_init", 30)
    writer.call(CallKind.INITCALL, start_ns, "init-1;do_one_initcall", init, argument=ADDRESSES[2], own=30)
    writer.event(EventKind.EXEC, init, "init-1", text="/init")
    writer.cut("init_exec")
    writer.spend("init-1;vfs_read", 50)
    writer.spend("init-1;do_exit;exit_sem", 5)
    writer.spend("cryptomgr_test-40;crypto_test", 900)
    # An interrupt that came when nobody ran: the job's, as likely as not.
    writer.spend("swapper/0-0;tcp_rcv", 7)
    writer.spend("init-1;nowhere", 3)
    writer.cut("ready")
    writer.spend("init-1;setup", 2)
    assert swapper == 0
    use = find_use(parse_profile(writer.end(), FUNCTIONS, 0), ADDRESSES, OBJECTS)
    assert dict(zip(FUNCTIONS[:-1], use.uses, strict=True)) == {
        "start_kernel": Use.NEVER,
        "do_one_initcall": Use.NEVER,
        "disk_init": Use.INITCALL,
        # Before init at first, and again in the check.
        "setup": Use.JOB,
        "vfs_read": Use.JOB,
        "do_exit": Use.NEVER,
        "exit_sem": Use.ASIDE,
        "crypto_test": Use.ASIDE,
        "unused": Use.NEVER,
        "tcp_rcv": Use.JOB,
    }
    assert use.outside == 3
    assert sum(use.instructions) == 100 + 30 + 50 + 5 + 900 + 7 + 2
    assert [one.name for one in use.functions][:2] == ["crypto_test", "setup"]
    example = use.example(FUNCTIONS.index("setup"))
    assert example is not None and (example.instructions, example.use) == (102, Use.JOB)
    assert use.example(FUNCTIONS.index("unused")) is None
