"""Recordings of one boot on one clock: a real boot's serial log, kernel log and systemd's times, and made-up ones."""

import random
from dataclasses import replace

import pytest

from bootlab.errors import InputError
from bootlab.importers.merging import Merged, Placement, merge
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import Recording
from bootlab.timeline.timeline import Timeline
from tests.importers.samples import sample

SERIAL, KERNEL = "debian-13/grabserial.log.xz", "debian-13/dmesg.txt.xz"
TIME, BLAME = "debian-13/systemd-analyze-time.txt", "debian-13/systemd-analyze-blame.txt"
CHAIN = "debian-13/systemd-analyze-critical-chain.txt"
PLOT, SHOW = "debian-13/systemd-analyze-plot.json", "debian-13/systemctl-show.txt"


def merged(*names: str) -> Merged:
    return merge([(name, sample(name)) for name in names])


def placement(one: Merged, name: str) -> Placement:
    return next(placement for placement in one.placements if placement.name == name)


def test_four_recordings_of_one_boot_share_the_hosts_clock() -> None:
    one = merged(PLOT, KERNEL, SHOW, SERIAL)
    assert one.recording.timeline.clock.name == "console"
    assert [(phase.name, phase.duration_ns // 1_000_000) for phase in one.recording.phases] == [
        ("before", 1_413), ("kernel", 7_170), ("userspace", 29_414),
    ]  # fmt: skip
    spans = {(span.source, span.name): span for span in one.recording.timeline.spans}
    offset_ns = placement(one, PLOT).offset_ns
    assert spans["unit", "ssh.service"].start_ns == 26_647_286_000 + offset_ns
    # What two of them tell is there once.
    assert sum(span.source == "initcall" for span in one.recording.timeline.spans) < 654
    assert sum("Run /init as init process" in event.name for event in one.recording.timeline.events) == 1
    assert any("1413." in note and "+-" in note and "in common" in note for note in one.recording.notes)


def test_two_ways_from_one_clock_to_another_agree_within_what_they_state() -> None:
    # systemd's clock on the serial log's, by its status lines; and by way of the kernel log.
    direct = placement(merged(SERIAL, PLOT), PLOT)
    onto_kernel, onto_serial = placement(merged(KERNEL, PLOT), PLOT), placement(merged(SERIAL, KERNEL), KERNEL)
    around_ns = onto_kernel.offset_ns + onto_serial.offset_ns
    stated_ns = direct.uncertainty_ns + onto_kernel.uncertainty_ns + onto_serial.uncertainty_ns
    assert abs(around_ns - direct.offset_ns) <= stated_ns < 5_000_000
    # printk's clock and CLOCK_MONOTONIC are not one: 58 ms here, which nobody should take for a unit's time.
    assert onto_kernel.offset_ns == pytest.approx(-58.2e6, abs=0.3e6)


def test_what_printk_cannot_place_is_not_placed() -> None:
    one, kernel = merged(SERIAL, KERNEL), sample(KERNEL)
    since_ns = placement(one, KERNEL).since_ns
    assert since_ns is not None and since_ns > 3_000_000_000
    early = {span.name for span in kernel.timeline.spans if span.start_ns < since_ns and span.source == "initcall"}
    placed = {span.name for span in one.recording.timeline.spans if span.source == "initcall"}
    lengths = {length.name for length in one.recording.lengths if length.source == "initcall"}
    assert "acpi_init" in early - placed and early - placed <= lengths
    assert "virtio_blk_init" in placed - early


def test_one_clock_needs_no_estimate() -> None:
    one = placement(merged(PLOT, SHOW), SHOW)
    assert (one.offset_ns, one.pairs, one.since_ns) == (0, 0, None) and one.uncertainty_ns <= 3_000


def test_recordings_of_two_boots_are_refused() -> None:
    with pytest.raises(InputError, match="not of one boot, 6 of 1795 stamped lines"):
        merge([("serial", sample(SERIAL)), ("dmesg", sample("dmesg-raw.log"))])
    show = sample(SHOW)
    other = replace(show, phases=tuple(replace(phase, end_ns=phase.end_ns + 10**9) for phase in show.phases))
    with pytest.raises(InputError, match="not of one boot, kernel took 8171 ms in one"):
        merge([("a", show), ("b", other)])


def test_recordings_with_nothing_in_common_are_refused() -> None:
    with pytest.raises(InputError, match="nothing in common"):
        merge([("dmesg", sample("dmesg-raw.log")), ("boottrace", sample("freebsd/boottrace.txt"))])


def test_what_has_no_moments_stands_beside() -> None:
    # `systemd-analyze` and `systemd-analyze blame`, as somebody saves them beside the logs.
    one = merged(SERIAL, KERNEL, TIME, BLAME)
    assert [placement.name for placement in one.placements] == [SERIAL, KERNEL]
    lengths = {(length.source, length.name): length.took_ns for length in one.recording.lengths}
    assert lengths["phases of systemd-analyze", "userspace"] == 29_414_000_000
    assert lengths["unit", "ssh.service"] == 9_666_000_000
    assert (
        sum("its lengths stand beside. Of the same boot: nothing proves it" in note for note in one.recording.notes)
        == 2
    )
    # Beside systemd's own clock the phases have a place, and units that both tell of are there once.
    one = merged(PLOT, TIME, BLAME)
    assert [phase.name for phase in one.recording.phases] == ["kernel", "userspace"]
    assert sum(span.name == "ssh.service" for span in one.recording.timeline.spans) == 1
    assert not any(length.source == "unit" for length in one.recording.lengths)
    assert any("33 of 33 lengths are the same" in note for note in one.recording.notes)


def test_a_critical_chain_is_laid_by_its_units() -> None:
    one = placement(merged(PLOT, CHAIN), CHAIN)
    # systemd began at 7.170 s of its own clock: what `kernel` is in `systemd-analyze time`.
    assert one.pairs >= 4 and abs(one.offset_ns - 7_170_000_000) <= one.uncertainty_ns < 20_000_000


def test_lengths_of_another_boot_are_refused() -> None:
    blame = sample(BLAME)
    other = replace(blame, lengths=tuple(replace(one, took_ns=one.took_ns + 10**9) for one in blame.lengths))
    with pytest.raises(InputError, match="blame: not of one boot with the others, 33 of 33 lengths are not the same"):
        merge([("plot", sample(PLOT)), ("blame", other)])


def test_every_serial_log_has_a_zero_of_its_own() -> None:
    # Two hosts, or two lines of a board: each counts from its own first line, and either may stamp late.
    truth_ns, held = 40_000_000, 0
    for seed in range(50):
        draw = random.Random(seed)
        lines = [(draw.randrange(10**9, 20 * 10**9), f"a line with the number {number}") for number in range(200)]
        one, other = (
            Recording("grabserial", "x", Timeline.of(Clock("console", 1_000), [
                Event(_told_ns(at, offset_ns, 0, draw), "console", text) for at, text in lines
            ]), "x")
            for offset_ns in (0, truth_ns)
        )  # fmt: skip
        found = placement(merge([("one", one), ("other", other)]), "other")
        held += abs(found.offset_ns + truth_ns) <= found.uncertainty_ns
        assert found.pairs == 200 and found.uncertainty_ns < 50_000_000
    assert held >= 45


def test_cycles_and_series_have_no_place() -> None:
    one = sample(KERNEL)
    cycles = replace(one, timeline=replace(one.timeline, clock=Clock("tsc", 1, "cycles")))
    with pytest.raises(InputError, match="counts cycles"):
        merge([("a", one), ("b", cycles)])
    with pytest.raises(InputError, match="figures of several"):
        merge([("a", one), ("b", sample("series/two-humps.csv"))])


@pytest.mark.parametrize(("lines", "drift_ppm"), [(8, 0), (200, 0), (200, 200)])
def test_the_truth_is_within_what_is_stated(lines: int, drift_ppm: int) -> None:
    # Units that a slow console tells of late, by delays of random length. 95 % of 100 logs, less what chance allows.
    truth_ns, held = 1_500_000_000, 0
    for seed in range(100):
        draw = random.Random(seed)
        starts = sorted(draw.randrange(10**9, 20 * 10**9) for _ in range(lines))
        units = [Span(at, at + 10**6, "unit", f"u{number}.service") for number, at in enumerate(starts)]
        told = [
            Event(_told_ns(unit.start_ns, truth_ns, drift_ppm, draw), "console", f"Starting {unit.name}")
            for unit in units
        ]
        systemd = Recording("systemd-plot", "x", Timeline.of(Clock("monotonic", 1_000), [], units), "x")
        serial = Recording("grabserial", "x", Timeline.of(Clock("console", 1_000), told), "x")
        one = placement(merge([("serial", serial), ("plot", systemd)]), "plot")
        # With drift there is no one offset: that of some moment of the boot has to be within.
        moments = range(starts[0], starts[-1] + 1, max((starts[-1] - starts[0]) // 50, 1))
        held += any(abs(one.offset_ns - _offset(at, truth_ns, drift_ppm)) <= one.uncertainty_ns for at in moments)
    assert held >= 90


def _offset(at_ns: int, truth_ns: int, drift_ppm: int) -> int:
    return truth_ns + at_ns * drift_ppm // 10**6


def _told_ns(at_ns: int, truth_ns: int, drift_ppm: int, draw: random.Random) -> int:
    return at_ns + _offset(at_ns, truth_ns, drift_ppm) + int(draw.expovariate(1 / 3e6))


def test_time_chain_and_blame_of_one_boot_belong_together() -> None:
    one = merged(CHAIN, BLAME, TIME)
    # systemd began where `time` says that the kernel ended, and the chain counts from there.
    assert placement(one, CHAIN).offset_ns == 7_170_000_000
    spans = {span.name: span.start_ns for span in one.recording.timeline.spans}
    assert spans["ssh.service"] == (7_170 + 19_476) * 1_000_000
    assert [phase.name for phase in one.recording.phases] == ["kernel", "userspace"]
    assert any(length.source == "unit" for length in one.recording.lengths)
