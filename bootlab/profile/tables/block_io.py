"""Requests to block devices, each from when its driver got it to when all of its bytes were done."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bootlab.profile.recorded.record_types import EventKind, ProfileEvent
from bootlab.profile.tables.plain_data import Result

# enum req_op of include/linux/blk_types.h; what is not here has had other numbers in other kernels.
_OPERATIONS: Final = {
    0: "read",
    1: "write",
    2: "flush",
    3: "discard",
    5: "secure erase",
    9: "write zeroes",
    34: "driver in",
    35: "driver out",
}


@dataclass(frozen=True, slots=True)
class Request(Result):
    """One request. `task`, `node`: who handed it to the driver, and where.

    `done_ns`, `done_node`: when and where it was done; None if that was not seen.
    """

    disk: str
    operation: str
    bytes: int
    issued_ns: int
    done_ns: int | None
    task: int
    node: int
    done_node: int | None


@dataclass(frozen=True, slots=True)
class DiskCaller(Result):
    """What one task handed to the drivers of disks. `waited_ns`: from that to the end of each, added up.

    Writes are often handed over by a kernel thread, on behalf of whoever made the pages dirty.
    """

    task: int
    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    others: int
    waited_ns: int
    longest_ns: int


def find_disk_callers(requests: Iterable[Request], until_ns: int) -> tuple[DiskCaller, ...]:
    """Return who asked disks before `until_ns`, the longest wait first; of what ends later the time up to there."""
    asked: dict[int, list[Request]] = {}
    for request in requests:
        if request.issued_ns < until_ns:
            asked.setdefault(request.task, []).append(request)
    callers = [_caller(task, of, until_ns) for task, of in asked.items()]
    return tuple(sorted(callers, key=lambda one: (-one.waited_ns, one.task)))


def _caller(task: int, requests: list[Request], until_ns: int) -> DiskCaller:
    reads = [one.bytes for one in requests if one.operation == "read"]
    writes = [one.bytes for one in requests if one.operation == "write"]
    waits = [
        min(until_ns, until_ns if one.done_ns is None else one.done_ns) - one.issued_ns for one in requests
    ]  # fmt: skip
    others = len(requests) - len(reads) - len(writes)
    return DiskCaller(task, len(reads), sum(reads), len(writes), sum(writes), others, sum(waits), max(waits))


def find_requests(events: Iterable[ProfileEvent]) -> list[Request]:
    """Return the requests in the order they were issued.

    A request that is issued again before it was done (requeued, or its end was not seen) is two requests.
    """
    requests: list[Request | None] = []
    flying: dict[int, tuple[int, ProfileEvent, int]] = {}
    for event in events:
        if event.kind == EventKind.BLOCK_ISSUE:
            if event.a in flying:
                index, issue, _ = flying.pop(event.a)
                requests[index] = _request(issue, None)
            flying[event.a] = (len(requests), event, event.b >> 8)
            requests.append(None)
        elif event.kind == EventKind.BLOCK_DONE and event.a in flying:
            index, issue, left = flying.pop(event.a)
            if event.b < left:
                flying[event.a] = (index, issue, left - event.b)
            else:
                requests[index] = _request(issue, event)
    for index, issue, _ in flying.values():
        requests[index] = _request(issue, None)
    return [request for request in requests if request is not None]


def _request(issue: ProfileEvent, done: ProfileEvent | None) -> Request:
    number = issue.b & 0xFF
    operation = _OPERATIONS.get(number) or f"operation {number}"
    done_ns, done_node = (None, None) if done is None else (done.t_ns, done.node)
    return Request(issue.text, operation, issue.b >> 8, issue.t_ns, done_ns, issue.task, issue.node, done_node)
