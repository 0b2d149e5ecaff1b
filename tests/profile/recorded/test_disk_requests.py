"""What modelled disks were asked for: read back, cut off, damaged, and added up."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.profile.recorded.disk_requests import DiskRequest, DiskUse, disk_use, read_disk_requests

WHOLE = """\
bootlab-requests 1
rootfs read 2048 8 100 100 150
rootfs write 0 16 120 130 170 4096
disk0 read 8 1 400 400 410
rootfs flush 0 0 200 200 260
rootfs read 2056 8 250 250 300
"""


def read(tmp_path: Path, text: str) -> list[DiskRequest]:
    path = tmp_path / "requests.txt"
    path.write_text(text)
    return list(read_disk_requests(path))


def test_requests_are_added_up_by_disk(tmp_path: Path) -> None:
    requests = read(tmp_path, WHOLE)
    assert requests[1] == DiskRequest("rootfs", "write", 0, 16, 120, 130, 170, offset=4096)
    use = disk_use(requests)
    assert use["disk0"] == DiskUse(1, 512, 0, 0, 0, 10, 10, 10, passed_bytes=0)
    waited_ns = 50 + 50 + 60 + 50
    assert use["rootfs"] == DiskUse(2, 8192, 1, 8192, 1, 70 + 100, waited_ns, longest_ns=60, passed_bytes=0)


def test_up_to_a_moment_only_what_was_asked_before_it_counts(tmp_path: Path) -> None:
    use = disk_use(read(tmp_path, WHOLE), 210)
    assert use == {"rootfs": DiskUse(1, 4096, 1, 8192, 1, busy_ns=80, waited_ns=110, longest_ns=50, passed_bytes=0)}
    assert disk_use([], 5) == {}


def test_since_a_moment_only_what_was_asked_from_it_on_counts(tmp_path: Path) -> None:
    use = disk_use(read(tmp_path, WHOLE), 300, 200)
    assert use == {"rootfs": DiskUse(1, 4096, 0, 0, 1, busy_ns=100, waited_ns=110, longest_ns=60, passed_bytes=0)}


def test_what_lies_between_reads_is_added_up_in_the_order_in_which_the_disk_did_them(tmp_path: Path) -> None:
    text = (
        "bootlab-requests 1\na read 100 8 5 30 40\na read 0 8 6 10 20\na write 900 8 7 20 30 0\na read 50 8 8 50 60\n"
    )
    assert disk_use(read(tmp_path, text))["a"].passed_bytes == 512 * (100 - 8 + 108 - 50)


@pytest.mark.parametrize("size", range(len(WHOLE) + 1))
def test_a_killed_qemu_leaves_whole_lines(size: int, tmp_path: Path) -> None:
    assert len(read(tmp_path, WHOLE[:size])) == max(0, WHOLE[:size].count("\n") - 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bootlab-requests 1", "bootlab-requests 2", ":1: not a list of requests"),
        ("read 2048 8 100 100 150", "seek 2048 8 100 100 150", ":2: not a request"),
        ("read 2048 8 100 100 150", "read 2048 8 100 100", ":2: not a request"),
        ("read 2048 8 100 100 150", "read 2048 8 100 90 150", ":2: not a request"),
        ("read 2048 8 100 100 150", "read 2048 8 100 100 150 7", ":2: not a request"),
        ("read 2048 8 100 100 150", "read -1 8 100 100 150", ":2: not a request"),
    ],
)
def test_damage_is_said_with_its_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, WHOLE.replace(old, new))
