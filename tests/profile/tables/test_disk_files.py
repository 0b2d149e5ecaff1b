"""Requests of modelled disks by file: each byte and each wait belongs to one file, or to none."""

from bootlab.profile.recorded.disk_files import FilePiece
from bootlab.profile.recorded.disk_requests import DiskRequest
from bootlab.profile.tables.disk_files import NO_FILE, DiskFile, find_disk_files

PIECES = {"rootfs": [FilePiece(0, 8, "/a"), FilePiece(8, 8, "/b"), FilePiece(24, 8, "/a")]}


def _request(operation: str, sector: int, sectors: int, asked_ns: int, took_ns: int) -> DiskRequest:
    return DiskRequest("rootfs", operation, sector, sectors, asked_ns, asked_ns, asked_ns + took_ns)


def test_a_request_of_several_files_is_shared_by_bytes() -> None:
    requests = [
        _request("read", 0, 32, 100, 3200),
        _request("write", 10, 2, 500, 70),
        _request("flush", 0, 0, 600, 50),
        _request("read", 100, 8, 700, 10),
    ]
    assert find_disk_files(requests, PIECES, 10**9) == (
        DiskFile("rootfs", "/a", 1, 16 * 512, 0, 1600),
        DiskFile("rootfs", "/b", 2, 8 * 512, 2 * 512, 870),
        DiskFile("rootfs", NO_FILE, 2, 16 * 512, 0, 810),
    )


def test_what_is_answered_later_counts_up_to_the_goal_and_what_is_asked_later_not() -> None:
    requests = [_request("read", 8, 8, 100, 1000), _request("read", 0, 8, 200, 10)]
    assert find_disk_files(requests, PIECES, 200) == (DiskFile("rootfs", "/b", 1, 4096, 0, 100),)


def test_a_drive_whose_files_are_not_known_is_left_out() -> None:
    assert find_disk_files([_request("read", 0, 8, 1, 1)], {}, 10) == ()
