"""systemd-analyze plot as a drawing: read by its bars and its axis."""

import lzma
import re

from bootlab.importers.systemd import plot_svg as systemd_svg
from tests.importers.samples import DATA, read_text, sample
from tests.importers.systemd.printed import MS


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


def test_a_drawing_that_is_cut_says_how_much_is_missing() -> None:
    raw = lzma.decompress((DATA / "debian-13" / "systemd-analyze-plot.svg.xz").read_bytes()).decode()
    whole = sample("debian-13/systemd-analyze-plot.svg.xz")
    assert not any("cut off" in note for note in whole.notes)
    assert whole.facts == {
        "system": "Debian GNU/Linux 13 (trixie)", "machine": "x86-64 qemu", "target": "graphical.target",
        "kernel": "6.12.107+deb13-cloud-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.12.107-1 (2026-08-29)",
    }  # fmt: skip
    rows = raw.split("\n")
    names = [number for number, row in enumerate(rows) if '<text class="left"' in row or '<text class="right"' in row]
    # 97 rows are drawn, and 6 of the legend; the first 40 of them are left.
    assert len(names) == 103
    cut = read_text(systemd_svg.IMPORTER, "\n".join(rows[: names[40]]))
    assert "The drawing is cut off: 57 of its 97 rows are missing." in cut.notes
