"""What systemd-analyze prints: time, blame and the critical chain, in every form of their spans."""

import pytest

from bootlab.importers.reading.source import FormatError
from bootlab.importers.systemd import analyze_text as systemd_text
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample
from tests.importers.systemd.printed import MS, printed_blame


def test_time_has_its_parts_and_what_was_reached() -> None:
    one = sample("debian-13/systemd-analyze-time.txt")
    assert [(phase.name, phase.start_ns, phase.end_ns) for phase in one.phases] == [
        ("kernel", 0, 7_170 * MS), ("userspace", 7_170 * MS, 36_584 * MS),
    ]  # fmt: skip
    (event,) = one.timeline.events
    assert (event.name, event.t_ns) == ("reached graphical.target", (7_170 + 29_327) * MS)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("5.2s (firmware) + 1.1s (loader) + 2.584s (kernel) + 3s (initrd) + 1min 9.608s (userspace) = 1min 21.492s",
         {"firmware": 5_200, "loader": 1_100, "kernel": 2_584, "initrd": 3_000, "userspace": 69_608}),
        ("79ms (kernel) + 2h 3min (userspace) = 2h 3min 79ms", {"kernel": 79, "userspace": 7_380_000}),
        ("412ms (userspace)", {"userspace": 412}),
        ("1min (loader) + 500us (kernel) + 2s (userspace) = 1min 2s",
         {"loader": 60_000, "kernel": 0.5, "userspace": 2_000}),
    ],
)  # fmt: skip
def test_any_subset_of_parts_and_any_unit(line: str, parts: dict[str, float]) -> None:
    one = read_text(systemd_text.IMPORTER, f"Startup finished in {line} \n")
    assert {phase.name: phase.duration_ns / MS for phase in one.phases} == parts
    before = sum(parts.get(name, 0) for name in ("firmware", "loader"))
    assert one.phases[0].start_ns == -before * MS
    assert all(a.end_ns == b.start_ns for a, b in zip(one.phases, one.phases[1:], strict=False))


def test_a_total_that_is_not_the_sum_is_noted() -> None:
    one = read_text(systemd_text.IMPORTER, "Startup finished in 1s (kernel) + 1s (userspace) = 3.5s\n")
    assert any("3500 ms" in note for note in one.notes)


def test_a_span_that_is_none_is_named_with_its_line() -> None:
    with pytest.raises(FormatError, match=r"^x:2: expected spans such as .*'7;170s \(kernel\)'"):
        read_text(systemd_text.IMPORTER, "\nStartup finished in 7;170s (kernel) + 1s (userspace) = 2s\n")


def test_blame_keeps_every_unit_however_its_span_is_written() -> None:
    one = sample("debian-13/systemd-analyze-blame.txt")
    assert {length.name: length.took_ns for length in one.lengths} == printed_blame()
    # The slowest ones are written with seconds, which others drop.
    assert one.lengths[0].name == "dev-vda.device" and one.lengths[0].took_ns == 22_208 * MS
    assert len(one.lengths) == 33


def test_escapes_in_unit_names_stay() -> None:
    rows = "1min 2.5s dev-disk-by\\x2duuid-1234\\x2d5678.device\n     5ms system-serial\\x2dgetty.slice\n"
    one = read_text(systemd_text.IMPORTER, rows)
    assert [(length.name, length.took_ns) for length in one.lengths] == [
        ("dev-disk-by\\x2duuid-1234\\x2d5678.device", 62_500 * MS), ("system-serial\\x2dgetty.slice", 5 * MS),
    ]  # fmt: skip


def test_a_critical_chain_counts_from_systemds_start() -> None:
    one = sample("debian-13/systemd-analyze-critical-chain.txt")
    spans = {span.name: (span.start_ns // MS, span.duration_ns // MS) for span in one.timeline.spans}
    assert spans["ssh.service"] == (19_476, 9_666) and spans["-.slice"] == (3_105, 0)
    assert len(spans) == 15 and one.timeline.clock.name == "userspace"
    # What @ and + mean, by the plot of the same boot: start of the unit's job since systemd's own, and its length.
    plot = {span.name: span for span in sample("debian-13/systemd-analyze-plot.json").timeline.spans}
    begun_ns = sample("debian-13/systemctl-show.txt").phases[-1].start_ns
    for name, (at_ms, took_ms) in spans.items():
        if took_ms:
            assert (plot[name].start_ns - begun_ns) // MS == at_ms
            assert plot[name].duration_ns // MS == took_ms


@pytest.mark.parametrize("tree", ["└─", "├─", "`-", "|-"])
def test_a_chain_in_any_locale(tree: str) -> None:
    text = 'is printed after the "@" character.\n\na.target @1min 2.5s\n'
    text += f"{tree}b\\x2dc.service @1.5s +2ms\n  {tree}-.slice @79ms\n"
    one = read_text(systemd_text.IMPORTER, text)
    assert [(span.name, span.start_ns // MS, span.duration_ns // MS) for span in one.timeline.spans] == [
        ("-.slice", 79, 0), ("b\\x2dc.service", 1_500, 2), ("a.target", 62_500, 0),
    ]  # fmt: skip


def test_all_three_in_one_file_share_a_clock() -> None:
    names = ("time", "blame", "critical-chain")
    text = "\n-----\n".join((DATA / "debian-13" / f"systemd-analyze-{name}.txt").read_text() for name in names)
    one = read_text(systemd_text.IMPORTER, text)
    assert len(one.phases) == 2 and len(one.lengths) == 33 and len(one.timeline.spans) == 15
    assert one.timeline.clock.name == "monotonic"
    ssh = next(span for span in one.timeline.spans if span.name == "ssh.service")
    assert ssh.start_ns == (7_170 + 19_476) * MS


def test_a_container_has_no_kernel_to_count_an_initramfs_to() -> None:
    one = recording_of(b"Startup finished in 2.5s (userspace) = 2.5s\n")
    assert one.notes == () and phases_ms(one) == {"userspace": 2500.0}


def test_the_target_is_kept() -> None:
    assert sample("debian-13/systemd-analyze-time.txt").facts == {"target": "graphical.target"}


def test_a_unit_of_the_chain_without_a_place_keeps_its_length_and_one_from_before_systemd_its_place() -> None:
    # systemd before 257 counts back from 2**64 us what began in the initramfs.
    text = (
        'The time when unit became active or started is printed after the "@" character.\n'
        "late.service +4.158s\n"
        "└─basic.target @6.513s\n"
        "  └─fsck.service @584542y 2w 2d 20h 1min 48.890s +45ms\n"
        "    └─system.slice\n"
    )
    one = recording_of(text.encode())
    assert [(length.source, length.name, length.took_ns // 10**6) for length in one.lengths] == [
        ("critical chain", "late.service", 4158)
    ]
    assert {span.name: (span.start_ns // 10**6, span.duration_ns // 10**6) for span in one.timeline.spans} == {
        "basic.target": (6513, 0),
        "fsck.service": (-661, 45),
    }
    assert one.notes == ()
