"""Whether ticks were moved as the system asks, and by parts of what its kernel's really are."""

from dataclasses import replace
from pathlib import Path

from bootlab.measure.causes.ending import Ending
from bootlab.measure.record import Outcome
from bootlab.measure.record_contents import HostRun, fill_record
from bootlab.system import moved_ticks_ns
from tests.measure.observing import observed, write_trace

READY = Ending(Outcome.READY)
RUN = HostRun(["qemu"], "2026-01-01T00:00:00+00:00", 1.23456)


def test_how_far_ticks_were_moved_or_why_they_were_not(tmp_path: Path) -> None:
    trace = ("mark initcalls_start 20 20", "guest ready 90 90")
    asked = (
        ("moved", trace, []),
        ("refused", ("refused skip no such symbol", *trace), ["the kernel's ticks are not moved: no such symbol"]),
        ("elsewhere", trace[1:], ["the kernel's ticks are not moved: the boot did not come by initcalls_start"]),
    )
    for name, records, remarks in asked:
        (tmp_path / name).mkdir()
        seen = observed(tmp_path / name)
        moving = seen.system.with_part("clock", tick_us=4000)
        seen = replace(seen, prepared=replace(seen.prepared, system=moving))
        write_trace(seen, *records)
        record = fill_record(seen, READY, RUN)
        assert (record.remarks, record.ticks_moved_ns) == (remarks, 0 if remarks else moved_ticks_ns(moving))


def test_ticks_of_another_kernel_than_asked_for_are_a_remark(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("CONFIG_HZ=100\n")
    seen = observed(tmp_path)
    files = seen.prepared.files.model_copy(update={"kernel_config": config})
    write_trace(seen, "mark initcalls_start 20 20", "guest ready 90 90")
    for asked_us, remarks in (
        (10_000, []),
        (
            4000,
            [
                "clock.tick_us: this kernel's ticks are 10000 us apart (CONFIG_HZ=100), and they are moved by parts "
                "of 4000"
            ],
        ),
    ):
        ticking = seen.system.with_part("clock", tick_us=asked_us)
        asked = replace(seen, prepared=replace(seen.prepared, system=ticking, files=files))
        assert fill_record(asked, READY, RUN).remarks == remarks
