"""Lines of ftrace's function_graph tracer -> call sums, and spans where lines have times.

    # tracer: function_graph
    5.616392 |   0)   swapper-1    | ! 100.383 us  |    initcall_blacklisted();
 0)   1.965 us    |    mutex_unlock();                                  without options/funcgraph-abstime and -proc

The tracer's own durations are used, so sums are exact to a nanosecond where stamps have microseconds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.reading.longest_spans import LongestSpans
from bootlab.timeline.stack_tree import DEEPEST, StackTree

# Blanks are bounded: three endless runs of them beside each other could be split in too many ways.
_ROW = re.compile(
    r"\s{0,40}(?:(?P<time>\d{1,12}\.\d{6,9})\s{0,40}\|)?\s{0,40}(?P<cpu>\d{1,4})\)\s{0,40}"
    r"(?:(?P<task>\S.{0,40}?)\s{0,40}\|(?:\s{0,40}[^\s|]{3,8}\s{0,40}\|)?)?"
    r"\s{0,40}(?:[+!#*@$]\s{0,40})?(?:(?P<took>\d{1,15}(?:\.\d{1,9})?) us)?\s{0,40}\|(?P<code>.*)"
)
_SWITCH = re.compile(
    r"\s{0,40}(?P<cpu>\d{1,4})\)\s{1,40}(?P<before>\S.{0,40}?)\s{1,40}=>\s{1,40}(?P<after>\S.{0,40}?)\s{0,40}"
)
_MOST_THREADS: Final = 50_000
_LINE: Final = " -------"
_LOST = re.compile(r"CPU:\d+ \[LOST (\d{1,18}) EVENTS\]")


def is_graph_row(row: str) -> bool:
    """Return whether a line is of a call graph."""
    found = _ROW.fullmatch(row)
    return found is not None and found["code"].rstrip().endswith((";", "{", "}", "*/"))


@dataclass
class _Thread:
    name: str
    node: int
    calls: list[tuple[int, str, int | None]] = field(default_factory=list)
    """Open calls: node, name, start in ns."""
    inside_ns: list[int] = field(default_factory=list)
    """What the calls below each open one took."""
    deeper: int = 0
    """Open calls below the deepest that is kept."""


class GraphReader:
    """Takes the lines of a call graph one by one."""

    def __init__(self) -> None:
        self.spans = LongestSpans()
        self.sums = StackTree()
        self.rows = 0
        self.lost = 0
        self._threads: dict[str, _Thread] = {}
        self._on_cpu: dict[str, _Thread] = {}
        self._unopened = 0
        self._too_deep = 0

    def take(self, row: str) -> bool:
        """Take one line; return whether it was of a call graph."""
        found = _ROW.match(row)
        if found is None:
            return self._take_other(row)
        at, cpu, task, took, code = found.groups()
        self.rows += 1
        if task is not None:
            thread = self._threads.get(task) or self._thread(task)
        else:
            thread = self._on_cpu.get(cpu) or self._thread(f"CPU {int(cpu)}", cpu)
        code = code.strip()
        if code.endswith("{"):
            self._open(thread, _function(code[:-1]), at)
        elif code.endswith(");") or (code.endswith("*/") and ");" in code):
            self._leaf(thread, _function(code), at, took)
        elif code.startswith("}"):
            self._close(thread, took)
        return True

    def notes(self) -> Iterator[str]:
        """Yield the lines of the graph that could not be paired."""
        if self._unopened:
            yield f"{self._unopened} calls had begun before the trace did."
        open_calls = sum(len(thread.calls) for thread in self._threads.values())
        if open_calls:
            yield f"{open_calls} calls had not returned when the trace ended: what they took is in no figure."
        if self._too_deep:
            yield f"{self._too_deep} calls lay deeper than {DEEPEST}: what they took is with their callers."

    def _take_other(self, row: str) -> bool:
        if row.startswith(_LINE) or "=>" not in row:
            return row.startswith(_LINE)
        found = _SWITCH.fullmatch(row)
        if found is not None:
            self._on_cpu[found["cpu"]] = self._thread(found["after"])
        return found is not None

    def _thread(self, name: str, cpu: str | None = None) -> _Thread:
        if len(self._threads) >= _MOST_THREADS and name not in self._threads:
            name = "[other threads]"
        thread = self._threads.get(name)
        if thread is None:
            thread = self._threads[name] = _Thread(name, self.sums.below(0, name))
        if cpu is not None:
            self._on_cpu[cpu] = thread
        return thread

    def _open(self, thread: _Thread, name: str, at: str | None) -> None:
        if thread.deeper or len(thread.calls) >= DEEPEST:
            thread.deeper += 1
            self._too_deep += 1
            return
        node = self.sums.below(thread.calls[-1][0] if thread.calls else thread.node, name)
        thread.calls.append((node, name, None if at is None else _ns(at)))
        thread.inside_ns.append(0)

    def _leaf(self, thread: _Thread, name: str, at: str | None, took: str | None) -> None:
        if took is None:
            return
        took_ns = _ns_of_us(took)
        calls, sums = thread.calls, self.sums
        if thread.deeper:
            # Its caller's caller was too deep already, and has its time.
            return
        node = sums.below(calls[-1][0] if calls else thread.node, name)
        sums.charge(node, took_ns)
        sums.enter(node)
        if calls:
            thread.inside_ns[-1] += took_ns
        if at is not None and took_ns > self.spans.least_ns:
            start_ns = _ns(at)
            self.spans.add((start_ns, start_ns + took_ns, "call", name, thread.name, ""))

    def _close(self, thread: _Thread, took: str | None) -> None:
        if thread.deeper:
            thread.deeper -= 1
            return
        if not thread.calls:
            self._unopened += 1
            return
        node, name, start_ns = thread.calls.pop()
        inside_ns = thread.inside_ns.pop()
        if took is None:
            return
        took_ns = _ns_of_us(took)
        self.sums.charge(node, max(took_ns - inside_ns, 0))
        self.sums.enter(node)
        if thread.calls:
            thread.inside_ns[-1] += took_ns
        if start_ns is not None and took_ns > self.spans.least_ns:
            self.spans.add((start_ns, start_ns + took_ns, "call", name, thread.name, ""))


def _function(code: str) -> str:
    # virtio_blk_init [virtio_blk]();      with a return value behind it on newer kernels: foo(); /* = 0x0 */
    name, bracket, rest = code.partition("(")
    return (name.strip() or code.strip())[:256]


def _ns(seconds: str) -> int:
    whole, _, fraction = seconds.partition(".")
    return int(whole) * 1_000_000_000 + int(fraction.ljust(9, "0"))


def _ns_of_us(microseconds: str) -> int:
    whole, _, fraction = microseconds.partition(".")
    return int(whole) * 1000 + int(fraction.ljust(3, "0")[:3])
