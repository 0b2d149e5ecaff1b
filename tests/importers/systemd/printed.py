"""What `systemd-analyze blame` printed of the recorded boot, read without an importer."""

from bootlab.importers.reading.timespan import parse_timespan
from tests.importers.samples import DATA

MS = 1_000_000


def printed_blame() -> dict[str, int]:
    rows = (DATA / "debian-13" / "systemd-analyze-blame.txt").read_text().splitlines()
    return {row.split()[-1]: parse_timespan(" ".join(row.split()[:-1])) or 0 for row in rows}
