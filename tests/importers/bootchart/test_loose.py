"""bootchart's logs that nobody packed: a folder is read as its tarball would be, one alone is refused with a hint."""

import struct
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.importers.bootchart.loose import log_alone, pack_folder
from bootlab.importers.importer import Options
from bootlab.importers.reading.source import open_source
from bootlab.importers.registry import read_recording
from tests.importers.samples import recording_of

STAT = "100\ncpu  1 2 3 4 5 6 7 8\n\n200\ncpu  2 4 6 8 10 12 14 16\n\n"
PROCESSES = "100\n7 (init) S 1 0 0 0 -1 0 0 0 0 0 3 0 0 0 20 0 1 0 50 0 0\n\n"
DISKS = "100\n   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n\n"
ACCOUNT = struct.pack("<BBHIIIIIIf8H16s", 2, 3, 0, 0, 0, 0, 7, 1, 0, 1.0, *[0] * 8, b"sh")


def test_a_folder_is_read_as_its_tarball_would_be(tmp_path: Path) -> None:
    (tmp_path / "proc_stat.log").write_text(STAT)
    (tmp_path / "proc_ps.log").write_text(PROCESSES)
    (tmp_path / "other.txt").write_text("x")
    with open_source(str(tmp_path), None, pack_folder) as source:
        one = read_recording(source, Options())
    assert one.format == "bootchart" and [span.name for span in one.timeline.spans] == ["init"]


def test_any_other_folder_stays_one(tmp_path: Path) -> None:
    assert pack_folder(tmp_path) is None
    with pytest.raises(InputError, match="a folder, and none"), open_source(str(tmp_path), None, pack_folder):
        pass


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (STAT.encode(), "proc_stat.log"), (PROCESSES.encode(), "proc_ps.log"), (DISKS.encode(), "proc_diskstats.log"),
        (ACCOUNT * 3, "kernel_pacct"),
    ],
)  # fmt: skip
def test_a_log_alone_is_refused_with_what_to_pack(data: bytes, name: str) -> None:
    with pytest.raises(InputError, match=f"it is {name} of a bootchart, by itself") as caught:
        recording_of(data)
    assert caught.value.hint is not None and "tar czf bootchart.tgz" in caught.value.hint


@pytest.mark.parametrize("data", [b"", b"100\n", b"100\nhello\n", b"\0" * 4096, b"\1\3" * 2048])
def test_anything_else_is_none_of_them(data: bytes) -> None:
    assert log_alone(data) is None
