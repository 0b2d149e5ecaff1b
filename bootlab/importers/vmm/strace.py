"""strace of a VMM -> Recording: what it asked KVM for, each ioctl with its time, up to the guest's first instruction.

    strace -f -y --absolute-timestamps=format:unix,precision:ns --syscall-times=ns -e trace=ioctl -o FILE VMM ...

A row is `PID TIME ioctl(8<anon_inode:kvm-vm>, KVM_CREATE_VCPU, 0) = 9<anon_inode:kvm-vcpu:0> <0.000123456>`; one that
another thread's row came between is two, `<unfinished ...>` and `<... ioctl resumed>`. Forms of strace 6.1, which has
no name for what came to KVM later: `_IOC(_IOC_WRITE, 0xae, 0x49, 0xa0)`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Span
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

CREATE_VM: Final = "KVM_CREATE_VM"
RUN: Final = "KVM_RUN"
_CLOCK: Final = Clock("host", 1)
_S: Final = 1_000_000_000
_HEAD = r"(?:(?P<thread>\d{1,9}) {1,7})?(?P<seconds>\d{1,12})\.(?P<part>\d{3,9}) "
_CALL = re.compile(
    _HEAD + r"ioctl\((?P<fd>\d{1,7})(?:<(?P<file>[^>]{0,200})>)?, "
    r"(?:(?P<name>KVM_[A-Z0-9_]{2,60})|_IOC\([A-Z_|]{1,40}, 0xae, (?P<number>0x[0-9a-f]{1,2}), \w{1,8}\))(?P<rest>.*)"
)
_RESUMED = re.compile(_HEAD + r"<\.\.\. ioctl resumed>(?P<rest>.*)")
_ROW = re.compile(_HEAD + r"\S")
_TOOK = re.compile(r"<(?P<seconds>\d{1,9})\.(?P<part>\d{3,9})>\s{0,9}$")
_FAILED = re.compile(r"= -1 (?P<error>E[A-Z0-9]{1,20}) ")
_ARGUMENTS: Final = 120


@dataclass(slots=True)
class Calls:
    """What a VMM asked KVM for. Times are ns since the first row; `spans` in the order in which calls began."""

    spans: list[Span] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    took_ns: Counter[str] = field(default_factory=Counter)
    longest_ns: dict[str, int] = field(default_factory=dict)
    """By request, of all calls; of a trace with very many of them `spans` has the first alone."""
    failed: Counter[str] = field(default_factory=Counter)
    """Request and error -> how often."""
    untimed: int = 0
    """Calls whose rows do not say how long they took; they count as nothing."""
    first_run_ns: int | None = None
    begun_ns: int | None = None
    """The first row's time, since 1970."""
    last_ns: int = 0

    def of(self, name: str) -> list[Span]:
        """Return the calls of one request."""
        return [span for span in self.spans if span.name == name]


def recognise(head: Head) -> str:
    """Return the first row in which KVM is asked for something."""
    return next((row for row in head.rows if _CALL.match(row)), "")


def read(source: Source, options: Options) -> Recording:
    """Return the calls as spans, and the way to the first KVM_RUN as phases. Raises FormatError where there is none."""
    calls = parse((row for _, row in source.rows()), source.tally)
    if not calls.spans:
        raise source.expected("rows such as `812 1764197590.123456789 ioctl(3</dev/kvm>, KVM_CREATE_VM, 0) = 8 <0.05>`")
    more = sum(calls.counts.values()) - len(calls.spans)
    notes = ["strace stops the VMM at each of its calls: what takes many short ones is shown longer than it is."]
    if calls.untimed:
        notes.append(
            f"{calls.untimed} calls have no length, and are shown as 0: strace -T writes it, --syscall-times=ns."
        )
    if more:
        notes.append(f"{more} calls beyond the first {MOST_SPANS} are in the sums, and not on the timeline.")
    return Recording(
        format=IMPORTER.name,
        tool="strace",
        timeline=Timeline.of(_CLOCK, (), calls.spans),
        about_clock="the host's; zero is the first row",
        phases=tuple(_phases(calls)),
        facts=_facts(calls),
        notes=tuple(notes),
    )


def parse(rows: Iterable[str], tally: Tally) -> Calls:
    """Return the calls in the rows of a trace; one that never came back lasts to its thread's next row, or the last."""
    calls = Calls()
    waiting: dict[str, tuple[int, re.Match[str]]] = {}
    for row in rows:
        found = _CALL.match(row) or _RESUMED.match(row)
        if found is None:
            other = _ROW.match(row)
            if other is not None:
                tally.aside("other system calls, signals and ends of threads")
                _time(calls, other)
            elif row.strip():
                tally.leave_out("no row of strace's with a time in seconds")
            continue
        t_ns, thread = _time(calls, found), found["thread"] or ""
        began = waiting.pop(thread, None)
        if "name" not in found.groupdict():
            if began is None:
                tally.aside("ends of calls that are no requests to KVM, or began before the trace")
                continue
            _keep(calls, began[0], began[1], found["rest"], t_ns)
        else:
            if began is not None:
                # Its end is missing; the thread has gone on since.
                _keep(calls, began[0], began[1], "", t_ns)
            if found["rest"].rstrip().endswith("<unfinished ...>"):
                waiting[thread] = (t_ns, found)
            else:
                calls.untimed += _TOOK.search(found["rest"]) is None
                _keep(calls, t_ns, found, found["rest"], t_ns)
        tally.used("rows of ioctl")
    for t_ns, found in waiting.values():
        _keep(calls, t_ns, found, "", max(calls.last_ns, t_ns))
    calls.spans.sort(key=lambda span: span.start_ns)
    return calls


def _keep(calls: Calls, t_ns: int, found: re.Match[str], rest: str, last_ns: int) -> None:
    took = _TOOK.search(rest)
    end_ns = t_ns + _ns(took) if took is not None else last_ns
    calls.last_ns = max(calls.last_ns, end_ns)
    name, file = found["name"] or f"KVM request {found['number']}", (found["file"] or "").removeprefix("anon_inode:")
    if (failed := _FAILED.search(rest)) is not None:
        calls.failed[f"{name} {failed['error']}"] += 1
    about = found["rest"].removesuffix("<unfinished ...>").lstrip(", ").partition(") = ")[0].strip(" )")
    source = file if file.startswith("kvm-vcpu") else "VMM"
    span = Span(t_ns, max(end_ns, t_ns), source, name, about=about[:_ARGUMENTS])
    length_ns = span.end_ns - span.start_ns
    calls.counts[name] += 1
    calls.took_ns[name] += length_ns
    calls.longest_ns[name] = max(length_ns, calls.longest_ns.get(name, 0))
    if name == RUN and (calls.first_run_ns is None or t_ns < calls.first_run_ns):
        calls.first_run_ns = t_ns
    if len(calls.spans) < MOST_SPANS:
        calls.spans.append(span)


def _time(calls: Calls, found: re.Match[str]) -> int:
    t_ns = _ns(found)
    calls.begun_ns = t_ns if calls.begun_ns is None else calls.begun_ns
    since_ns = max(0, t_ns - calls.begun_ns)
    calls.last_ns = max(calls.last_ns, since_ns)
    return since_ns


def _ns(found: re.Match[str]) -> int:
    return int(found["seconds"]) * _S + int(found["part"].ljust(9, "0"))


def _phases(calls: Calls) -> list[Span]:
    first_run_ns = calls.last_ns if calls.first_run_ns is None else calls.first_run_ns
    # A VMM may make one only to ask what KVM can do; the last one before the guest runs is the guest's.
    before = [span for span in calls.of(CREATE_VM) if span.start_ns <= first_run_ns]
    if not before:
        return []
    vm = before[-1]
    cuts = (
        ("VMM start", 0, vm.start_ns),
        (CREATE_VM, vm.start_ns, vm.end_ns),
        ("VM creation", vm.end_ns, first_run_ns),
        ("guest", first_run_ns, calls.last_ns),
    )
    return [Span(begin, end, "phase", name) for name, begin, end in cuts if end >= begin]


def _facts(calls: Calls) -> dict[str, str]:
    facts: dict[str, str] = {}
    for name, total in calls.took_ns.most_common():
        longest = calls.longest_ns[name] / 1e6
        facts[name] = f"{calls.counts[name]} calls, {total / 1e6:.3f} ms, the longest {longest:.3f} ms"
    if calls.failed:
        facts["failed"] = ", ".join(f"{name} {times}" for name, times in sorted(calls.failed.items()))
    return facts


IMPORTER: Final = Importer(
    name="vmm-strace",
    title="strace of a VMM: its ioctls of KVM (strace -f -y -ttt -T -o FILE)",
    recognise=recognise,
    read=read,
)
"""Before importers of plain text, of which this is some."""
