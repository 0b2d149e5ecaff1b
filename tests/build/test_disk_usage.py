"""Room on the disk: blocks, so holes count nothing; each file once; no link followed; no error."""

import os
from pathlib import Path

from bootlab.build.disk_usage import disk_usage


def written(path: Path, size: int) -> None:
    """Write so many bytes, and let them have their blocks: some file systems give these late."""
    with path.open("wb") as file:
        file.write(os.urandom(size))
        os.fsync(file.fileno())


def test_holes_count_nothing_and_a_second_name_neither(tmp_path: Path) -> None:
    (tmp_path / "tree/below").mkdir(parents=True)
    with (tmp_path / "tree/sparse").open("wb") as file:
        file.truncate(1 << 30)
    full = tmp_path / "tree/below/full"
    written(full, 1 << 20)
    alone = disk_usage(tmp_path / "tree").disk_bytes
    assert 1 << 20 <= alone < 2 << 20
    os.link(full, tmp_path / "tree/again")
    (tmp_path / "tree/out").symlink_to("/usr")
    (tmp_path / "tree/broken").symlink_to("/nonexistent")
    assert alone <= disk_usage(tmp_path / "tree").disk_bytes < alone + (1 << 16)
    assert disk_usage(full).disk_bytes >= 1 << 20
    assert disk_usage(tmp_path / "tree/out").disk_bytes < 1 << 16


def test_each_folder_is_told_and_what_is_gone_counts_nothing(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    told = []

    def looked() -> None:
        told.append(1)
        # The folder that is looked at next vanishes meanwhile.
        if len(told) == 2:
            (tmp_path / "one").rmdir()

    usage = disk_usage(tmp_path, looked)
    assert len(told) == 2 and usage.unreadable == []
    assert disk_usage(tmp_path / "none").disk_bytes == 0


def test_a_name_that_is_no_text_is_counted(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff\n\x1b"
    os.mkdir(odd)
    written(Path(os.fsdecode(odd)) / "file", 100_000)
    assert disk_usage(tmp_path).disk_bytes >= 100_000
