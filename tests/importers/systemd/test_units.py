"""Units as systemd's outputs tell of them: what is none of these outputs is refused, whichever it was taken for."""

import pytest

from bootlab.importers.reading.source import FormatError
from bootlab.importers.systemd import dump as systemd_dump
from bootlab.importers.systemd import plot_json as systemd_plot
from bootlab.importers.systemd import plot_svg as systemd_svg
from bootlab.importers.systemd import show as systemd_show
from tests.importers.samples import read_text


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
