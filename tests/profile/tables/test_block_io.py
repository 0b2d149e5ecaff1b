"""Requests to block devices, from the first part to the last."""

from bootlab.profile.recorded.record_types import EventKind, ProfileEvent
from bootlab.profile.tables.block_io import DiskCaller, Request, find_disk_callers, find_requests


def event(t_ns: int, kind: EventKind, a: int, b: int = 0, text: str = "") -> ProfileEvent:
    return ProfileEvent(t_ns, t_ns, a, b, 0, 0, kind, 0, text)


def test_requests_in_parts_again_and_without_end() -> None:
    requests = find_requests(
        [
            event(1, EventKind.BLOCK_ISSUE, 0xA, 8192 << 8 | 1, "vda"),
            event(2, EventKind.BLOCK_ISSUE, 0xB, 0 << 8 | 2, "vda"),
            event(3, EventKind.BLOCK_DONE, 0xA, 4096),
            event(4, EventKind.BLOCK_DONE, 0xB, 0),
            event(5, EventKind.BLOCK_DONE, 0xA, 4096),
            event(6, EventKind.BLOCK_DONE, 0xA, 4096),
            event(7, EventKind.BLOCK_ISSUE, 0xA, 512 << 8, "sda"),
            event(8, EventKind.BLOCK_ISSUE, 0xA, 512 << 8, "sda"),
            event(9, EventKind.BLOCK_ISSUE, 0xC, 512 << 8 | 99, "sda"),
        ]
    )
    assert [(r.disk, r.operation, r.bytes, r.issued_ns, r.done_ns) for r in requests] == [
        ("vda", "write", 8192, 1, 5),
        ("vda", "flush", 0, 2, 4),
        ("sda", "read", 512, 7, None),
        ("sda", "read", 512, 8, None),
        ("sda", "operation 99", 512, 9, None),
    ]


def test_requests_are_added_up_by_who_asked_up_to_a_moment() -> None:
    def request(operation: str, size: int, issued_ns: int, done_ns: int | None, task: int) -> Request:
        return Request("vda", operation, size, issued_ns, done_ns, task, 0, 0)

    callers = find_disk_callers(
        [
            request("read", 4096, 10, 30, 1),
            request("write", 512, 20, 25, 2),
            request("flush", 0, 30, 130, 2),
            request("read", 1024, 90, None, 1),
            request("read", 8192, 100, 110, 3),
        ],
        100,
    )
    assert callers == (DiskCaller(2, 0, 0, 1, 512, 1, 75, 70), DiskCaller(1, 2, 5120, 0, 0, 0, 30, 20))
    assert find_disk_callers([], 5) == ()
