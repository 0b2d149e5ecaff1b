"""systemd's outputs: what it printed is reproduced from every form of them, and one form agrees with another."""

import io
import json
import lzma
import re

import pytest

from bootlab.importers.importer import Options
from bootlab.importers.reading.source import FormatError, Source
from bootlab.importers.reading.timespan import parse_timespan
from bootlab.importers.systemd import dump as systemd_dump
from bootlab.importers.systemd import plot as systemd_plot
from bootlab.importers.systemd import show as systemd_show
from bootlab.importers.systemd import svg as systemd_svg
from bootlab.importers.systemd import text as systemd_text
from tests.importers.samples import DATA, phases_ms, read_text, sample

MS = 1_000_000


def printed_blame() -> dict[str, int]:
    rows = (DATA / "debian-13" / "systemd-analyze-blame.txt").read_text().splitlines()
    return {row.split()[-1]: parse_timespan(" ".join(row.split()[:-1])) or 0 for row in rows}


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


def test_plot_json_is_read_in_spite_of_the_line_behind_it() -> None:
    raw = (DATA / "debian-13" / "systemd-analyze-plot.json").read_text()
    with pytest.raises(ValueError, match="Extra data"):
        json.loads(raw)
    one = sample("debian-13/systemd-analyze-plot.json")
    spans = {span.name: span for span in one.timeline.spans}
    ssh = spans["ssh.service"]
    assert (ssh.start_ns, ssh.end_ns) == (26_647_286_000, 36_313_996_000)
    # Started by somebody after the boot had finished.
    assert spans["systemd-hostnamed.service"].about == "after the boot had finished"
    assert len(one.timeline.events) == 95


def test_a_line_of_a_plot_table_ends_where_systemd_ends_it() -> None:
    # str.splitlines() ends one at a vertical tab too, and would find one head where there are six.
    widths = "{:14}{:10}{:11}{:5}{:12}{}\n"
    rows = (
        widths.format("NAME\x0b", "ACTIVATED", "ACTIVATING", "TIME", "DEACTIVATED", "DEACTIVATING"),
        widths.format("system.slice", "44.770s", "44.760s", "10ms", "0", "0"),
    )
    source = Source("table", io.BytesIO("".join(rows).encode()))
    (span,) = systemd_plot.read(source, Options()).timeline.spans
    assert (span.name, span.start_ns, span.end_ns) == ("system.slice", 44_760 * MS, 44_770 * MS)


def test_plot_and_blame_are_of_one_mind() -> None:
    plot = {span.name: span.duration_ns // MS for span in sample("debian-13/systemd-analyze-plot.json").timeline.spans}
    late = plot.pop("systemd-hostnamed.service")
    assert late == 844
    assert plot == {name: took // MS for name, took in printed_blame().items()}


def test_the_svg_says_what_the_json_says() -> None:
    drawn = sample("debian-13/systemd-analyze-plot.svg.xz")
    told = {span.name: span for span in sample("debian-13/systemd-analyze-plot.json").timeline.spans}
    units = {span.name: span for span in drawn.timeline.spans if span.source == "unit"}
    assert len(units) == 33
    # A thousandth of a step is 10 us, and start and width are rounded each.
    for name, span in units.items():
        assert abs(span.start_ns - told[name].start_ns) <= 10_000
        assert abs(span.duration_ns - told[name].duration_ns) <= 15_000
    shown = sample("debian-13/systemctl-show.txt")
    for own, said in zip(drawn.phases, shown.phases, strict=True):
        assert own.name == said.name
        assert abs(own.start_ns - said.start_ns) <= 10_000 and abs(own.end_ns - said.end_ns) <= 15_000
    drawn_own = [span.name for span in drawn.timeline.spans if span.source == "manager"]
    assert drawn_own == ["security", "generators", "units load"] == [span.name for span in shown.timeline.spans]


def test_tooltips_are_never_read() -> None:
    # systemd#43771: microseconds without leading zeros. A drawing with every tooltip ruined reads the same.
    raw = lzma.decompress((DATA / "debian-13" / "systemd-analyze-plot.svg.xz").read_bytes()).decode()
    ruined = re.sub(r"(Activating|Activated): [\d.]+", r"\1: 0.1", raw)
    assert ruined != raw
    one, other = (read_text(systemd_svg.IMPORTER, text) for text in (raw, ruined))
    assert one == other


def test_the_scale_is_the_axis_own() -> None:
    text = (
        '<svg>systemd-analyze\n<text class="sec" x="50.000" y="-5.000" >1.0s</text>\n'
        '<rect class="activating" x="100.000" y="40.000" width="25.000" height="19.000" />\n'
        '<text class="left" x="1" y="2">a&amp;b\\x2dc.service (500ms)</text>\n'
    )
    (span,) = read_text(systemd_svg.IMPORTER, text).timeline.spans
    assert (span.name, span.start_ns, span.end_ns) == ("a&b\\x2dc.service", 2_000 * MS, 2_500 * MS)


def test_show_gives_the_phases_that_plot_json_leaves_out() -> None:
    one = sample("debian-13/systemctl-show.txt")
    assert [(phase.name, phase.duration_ns) for phase in one.phases] == [
        ("kernel", 7_170_581_000), ("userspace", 36_584_987_000 - 7_170_581_000),
    ]  # fmt: skip


def test_firmware_and_loader_count_backwards_from_the_kernel() -> None:
    rows = "\n".join(f"{name}TimestampMonotonic={us}" for name, us in {
        "Firmware": 9_000_000, "Loader": 2_000_000, "Kernel": 0, "InitRD": 3_000_000, "Userspace": 5_000_000,
        "Finish": 11_000_000, "InitRDSecurityStart": 3_100_000, "InitRDSecurityFinish": 3_200_000,
        "WatchdogLastPing": 18446744073709551615,
    }.items())  # fmt: skip
    one = read_text(systemd_show.IMPORTER, rows)
    assert [(phase.name, phase.start_ns // MS, phase.end_ns // MS) for phase in one.phases] == [
        ("firmware", -9_000, -2_000), ("loader", -2_000, 0), ("kernel", 0, 3_000), ("initrd", 3_000, 5_000),
        ("userspace", 5_000, 11_000),
    ]  # fmt: skip
    assert [span.name for span in one.timeline.spans] == ["initrd: security"]


def test_a_dump_is_in_whole_seconds_and_says_where_the_clock_was_set() -> None:
    one = sample("debian-13/systemd-analyze-dump.txt.xz")
    spans = {span.name: span.duration_ns // (1000 * MS) for span in one.timeline.spans}
    assert spans["ssh.service"] == 10 and spans["dev-vda.device"] == 22
    for name, took_ns in printed_blame().items():
        assert name in spans and abs(spans[name] - took_ns / 1e9) < 1.0
    assert one.timeline.clock.resolution_ns == 1_000 * MS
    assert any("clock was set" in note for note in one.notes)
    assert "257.13" in one.tool and one.facts["units"] == "174"


@pytest.mark.parametrize(
    ("importer", "text"),
    [
        (systemd_plot.IMPORTER, '[{"name":"a.service","activating":"1"}]'),
        (systemd_plot.IMPORTER, '[{"name":"a.service","activating":1e300,"activated":1,"time":1}]'),
        (systemd_plot.IMPORTER, '{"name":"a.service","activating":1}'),
        (systemd_plot.IMPORTER, '[{"name":"a.service","activating":' + "[" * 100_000),
        (systemd_plot.IMPORTER, "[1, 2]"),
        (systemd_svg.IMPORTER, "<svg>systemd-analyze\n<rect class=\"activating\" x=\"1\" y=\"1\" width=\"1\"/>"),
        (systemd_svg.IMPORTER, "<svg>systemd-analyze</svg>"),
        (systemd_show.IMPORTER, "UserspaceTimestampMonotonic=0\n"),
        (systemd_dump.IMPORTER, "Manager: systemd 257\n"),
    ],
)  # fmt: skip
def test_what_is_none_of_it_is_refused(importer: object, text: str) -> None:
    with pytest.raises(FormatError, match="^x"):
        read_text(importer, text)  # type: ignore[arg-type]


def test_an_initramfs_with_systemd_is_a_phase() -> None:
    # dracut's: Startup finished in 34.030s (kernel) + 2min 58.698s (initrd) + 2min 588ms (userspace) = 5min 33.316s
    told = sample("debian-13-dracut/systemd-analyze-time.txt")
    assert phases_ms(told) == {"kernel": 34_030, "initrd": 178_698, "userspace": 120_588}
    assert not any("initramfs without systemd" in note for note in told.notes)
    exact = phases_ms(sample("debian-13-dracut/systemctl-show.txt"))
    assert list(exact) == ["kernel", "initrd", "userspace"]
    # Of `time` the milliseconds are cut off; a bar of `plot` ends at a thousandth of a step of 10 ms.
    drawn = phases_ms(sample("debian-13-dracut/systemd-analyze-plot.svg.xz"))
    for name, told_ms in phases_ms(told).items():
        assert told_ms <= exact[name] < told_ms + 1 and drawn[name] == pytest.approx(exact[name], abs=0.02)
    assert {span.name for span in sample("debian-13-dracut/systemctl-show.txt").timeline.spans} >= {
        "initrd: security", "initrd: generators", "initrd: units load", "security", "generators", "units load",
    }  # fmt: skip


def test_the_table_says_what_the_json_says() -> None:
    exact = sample("debian-13-dracut/systemd-analyze-plot.json.xz").timeline
    table = sample("debian-13-dracut/systemd-analyze-plot-table.txt.xz").timeline
    assert table.clock.resolution_ns == 1_000_000
    starts = {span.name: span.start_ns for span in exact.spans}
    assert len(table.spans) == len(exact.spans) == 66
    for span in table.spans:
        # Each is cut off at a millisecond; systemd-hostnamed was started anew between the two commands.
        assert span.name == "systemd-hostnamed.service" or 0 <= starts[span.name] - span.start_ns < 1_000_000
    assert len(table.events) == len(exact.events)


@pytest.mark.parametrize(
    "row", ["x.service  1s", "x.service  5x   1s   0    1s    1s", "           1s   1s   0    1s    1s"]
)
def test_a_table_row_that_is_none_is_named(row: str) -> None:
    head = "NAME       ACTIVATED ACTIVATING TIME DEACTIVATED DEACTIVATING"
    with pytest.raises(FormatError, match="x:2: expected a unit and five times"):
        read_text(systemd_plot.IMPORTER, f"{head}\n{row}\n")
