"""Initcalls, modules and probes: names, levels, nesting, what a probe came to, and the boot graph."""

from typing import Any

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import NONE, CallFlag, CallKind, ChunkKind, EventKind, Space
from bootlab.profile.tables.coverage import find_coverage
from bootlab.profile.tables.initcalls import InitcallTable, ProbeResult, find_initcalls

FUNCTIONS = ("start_kernel", "do_one_initcall", "virtio_init", "really_probe", "driver_bound", "con_init", "")
NAMES = {0xFFFF1000: "virtio_init", 0xFFFF2000: "con_init"}
LEVELS = {0xFFFF1000: "device", 0xFFFF2000: "console"}
INITCALL = "init-1;do_one_initcall"
PROBE = f"{INITCALL};virtio_init;really_probe"


def probe(writer: Any, text: str, *, bound: bool, stack: str = PROBE) -> None:
    start_ns = writer.t_ns
    writer.spend(stack, 30)
    if bound:
        writer.spend(f"{stack};driver_bound", 5)
    writer.call(CallKind.PROBE, start_ns, stack, 1, text=text, own=30)


def a_boot(writer: Any) -> Profile:
    writer = type(writer)(FUNCTIONS)
    swapper, init = writer.task("swapper/0", 0), writer.task("swapper/0", 1)
    writer.spend("swapper/0-0;start_kernel;con_init", 40)
    writer.call(CallKind.INITCALL, 0, "swapper/0-0;start_kernel;con_init", swapper, argument=0xFFFF2000, own=40)
    writer.cut("initcalls_start")
    writer.switch(swapper, init, "swapper/0-0;start_kernel", flags=0)
    writer.task("init", 1, number=init)
    start_ns = writer.t_ns
    writer.spend(INITCALL, 10)
    writer.spend(f"{INITCALL};virtio_init", 10)
    probe(writer, "virtio0\tvirtio blk", bound=True)
    probe(writer, "virtio1\tvirtio_net", bound=True)
    writer.call(CallKind.INITCALL, start_ns, INITCALL, init, argument=0xFFFF1000, own=90)
    probe(writer, "00:03 i8042 kbd", bound=False, stack="init-1;start_kernel;really_probe")
    writer.event(EventKind.DEFER, init, "init-1;start_kernel", text="00:03")
    probe(writer, "00:03 i8042 kbd", bound=False, stack="init-1;start_kernel;really_probe")
    writer.cut("init_exec")
    start_ns = writer.t_ns
    function = f"{INITCALL};virtio_blk_init [virtio_blk]"
    # Both modules' init functions were at this address, one after the other.
    writer.function("virtio_init [virtio]", Space.MODULE, 0xC0001000)
    writer.function("virtio_blk_init [virtio_blk]", Space.MODULE, 0xC0001000)
    writer.function("virtio_scsi_init [virtio_scsi]", Space.MODULE, 0xC0001000)
    writer.spend(function, 70)
    writer.call(CallKind.INITCALL, start_ns + 1, INITCALL, init, argument=0xC0001000, own=70)
    writer.call(CallKind.MODULE, start_ns, "init-1;start_kernel", init, text="virtio_blk", own=70)
    writer.cut("ready")
    start_ns = writer.t_ns
    writer.spend("init-1;do_one_initcall", 9)
    writer.text(ChunkKind.CALL, unfinished(writer, start_ns), b"")
    return parse_profile(writer.end(), FUNCTIONS, 0)


def unfinished(writer: Any, start_ns: int) -> tuple[int, ...]:
    node = writer.node(INITCALL)
    return (start_ns, writer.t_ns, 0, 0, 9, 0xFFFF3000, node, NONE, CallKind.INITCALL, CallFlag.UNFINISHED, 0)


def table(writer: Any) -> InitcallTable:
    return find_initcalls(a_boot(writer), NAMES, LEVELS)


def test_initcalls(profile_writer: Any) -> None:
    found = table(profile_writer).initcalls
    assert [(one.name, one.level, one.thread, one.module, one.duration_ns, one.cpu_ns) for one in found] == [
        ("con_init", "console", "swapper/0-0", "", 40, 40),
        ("virtio_init", "device", "init-1", "", 90, 90),
        ("virtio_blk_init [virtio_blk]", "module", "init-1", "virtio_blk", 69, 70),
        ("0xffff3000", "", "", "", 9, 9),
    ]
    assert [one.finished for one in found] == [True, True, True, False]


def test_probes(profile_writer: Any) -> None:
    found = table(profile_writer).probes
    assert [(one.device, one.driver, one.attempt, one.result.value, one.inside) for one in found] == [
        ("virtio0", "virtio blk", 1, "bound", "virtio_init"),
        ("virtio1", "virtio_net", 1, "bound", "virtio_init"),
        ("00:03", "i8042 kbd", 1, "deferred", ""),
        ("00:03", "i8042 kbd", 2, "failed", ""),
    ]


def test_a_kernel_that_inlines_driver_bound_tells_no_results(profile_writer: Any) -> None:
    profile = a_boot(profile_writer)
    profile.names[FUNCTIONS.index("driver_bound")] = "something_else"
    results = {one.result for one in find_initcalls(profile, NAMES, LEVELS).probes}
    assert results == {ProbeResult.RETURNED, ProbeResult.DEFERRED}


def test_the_boot_graph(profile_writer: Any) -> None:
    lanes = table(profile_writer).lanes
    assert [(lane.task, lane.thread) for lane in lanes] == [(0, "swapper/0-0"), (1, "init-1"), (None, "")]
    assert [(bar.kind, bar.name, bar.depth) for bar in lanes[1].bars] == [
        ("initcall", "virtio_init", 0),
        ("probe", "virtio0 virtio blk", 1),
        ("probe", "virtio1 virtio_net", 1),
        ("probe", "00:03 i8042 kbd", 0),
        ("probe", "00:03 i8042 kbd", 0),
        ("module", "virtio_blk", 0),
        ("initcall", "virtio_blk_init [virtio_blk]", 1),
    ]


def test_json_has_plain_values_only(profile_writer: Any) -> None:
    document = table(profile_writer).as_json()
    assert document["probes"][2]["result"] == "deferred"
    assert type(document["probes"][2]["result"]) is str and document["lanes"][2]["task"] is None


def test_coverage(profile_writer: Any) -> None:
    coverage = find_coverage(a_boot(profile_writer))
    assert coverage.known == 6
    assert find_coverage(a_boot(profile_writer), ["-", "thunk", "-", "return", "entry"]).known == 4
    assert coverage.before_initcalls == ("con_init",)
    assert coverage.up_to_ready == (
        "con_init",
        "do_one_initcall",
        "driver_bound",
        "really_probe",
        "virtio_blk_init [virtio_blk]",
        "virtio_init",
    )
    # really_probe() also ran outside of an initcall.
    assert coverage.in_initcalls_only == (
        "con_init",
        "do_one_initcall",
        "driver_bound",
        "virtio_blk_init [virtio_blk]",
        "virtio_init",
    )
    assert coverage.after_init_exec == ("virtio_blk_init [virtio_blk]",)
    assert coverage.check == ("do_one_initcall",)
    assert coverage.as_json()["schema"] == "bootlab.coverage/1"
