"""Requests to block devices, from the first part to the last."""

from bootlab.profile.recorded.record_types import EventKind, ProfileEvent
from bootlab.profile.tables.block_io import find_requests


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
