"""systemd-analyze plot as JSON and as a table: one form agrees with another."""

import io
import json

import pytest

from bootlab.importers.importer import Options
from bootlab.importers.reading.source import FormatError, Source
from bootlab.importers.systemd import plot_json as systemd_plot
from tests.importers.samples import DATA, read_text, sample
from tests.importers.systemd.printed import MS, printed_blame


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
