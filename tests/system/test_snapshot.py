"""What a system says of its snapshots: the time that its clones are told."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import read_system

SYSTEM = """
[machine]
type = "q35"
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
[booted]
mark = "ready"
[snapshot]
"""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2031-05-01T12:00:00Z", datetime(2031, 5, 1, 12, tzinfo=UTC)),
        ("2031-05-01T12:00:00", datetime(2031, 5, 1, 12, tzinfo=UTC)),
        ("2031-05-01T14:00:00+02:00", datetime(2031, 5, 1, 12, tzinfo=UTC)),
        ("2031-05-01", datetime(2031, 5, 1, tzinfo=UTC)),
    ],
)
def test_a_time_is_taken_as_toml_writes_it(tmp_path: Path, written: str, meant: datetime) -> None:
    path = tmp_path / "dated.toml"
    path.write_text(f"{SYSTEM}woken_at = {written}\n")
    snapshot = read_system(path).snapshot
    assert snapshot is not None and snapshot.woken_at == meant


@pytest.mark.parametrize(
    "written", ["1969-12-31T00:00:00Z", "2300-01-01T00:00:00Z", "2031-05-01T12:00:00.5Z", '"soon"', "true"]
)
def test_what_no_clock_can_be_set_to_is_refused_by_its_key(tmp_path: Path, written: str) -> None:
    path = tmp_path / "dated.toml"
    path.write_text(f"{SYSTEM}woken_at = {written}\n")
    with pytest.raises(InputError, match=r"snapshot\.woken_at"):
        read_system(path)
