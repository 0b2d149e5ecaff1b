"""Finds what stands before a login prompt: a unit that waits until no other starts, a terminal that does not answer.

And a console that is written.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from bootlab.build.formats.cpio import Entry
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding
from bootlab.findings.audit.process_costs import TaskCost, words_of
from bootlab.profile.tables.processes import Process
from bootlab.profile.waits.wake_reasons import WakeKind
from bootlab.techniques.userspace.getty import ASKS_SIZE

_FOLDERS: Final = ("usr/lib/systemd/system/", "lib/systemd/system/", "etc/systemd/system/")
"""The later one's count more."""
_TYPE: Final = re.compile(r"^Type[ \t]*=[ \t]*(\S*)", re.MULTILINE)
_EXEC: Final = re.compile(r"^ExecStart[ \t]*=[ \t]*[-@:+!]*(\S+)", re.MULTILINE)
_LEAST_NS: Final = 1_000_000
_GETTYS: Final = frozenset({"agetty", "getty"})
_ANSWER_NS: Final = 1_000_000_000
"""systemd waits 333 ms for a terminal's answer, and 5 s for the end of all other jobs."""
_CONSOLES: Final = (
    "univ8250_console_write", "serial8250_console_write", "pl011_console_write", "vt_console_print",
    "hvc_console_print",
)  # fmt: skip
"""Where the kernel writes its messages."""
_TERMINALS: Final = ("serial8250_tx_chars", "pl011_tx_chars", "hvc_push", "do_con_write")
"""Where what programs say is written."""


def find_idle_units(evidence: AuditedBoot) -> Finding | None:
    """Units of Type=idle: systemd runs their program when no other job is left, or after five seconds."""
    programs = _idle_programs(evidence.rootfs or ())
    items, cost = [], TaskCost()
    for process in evidence.costs.processes.values():
        began = _executed(process, programs)
        if began is None or began[0] - process.started_ns < _LEAST_NS:
            continue
        own = evidence.costs.cost([process.task], process.started_ns, began[0])
        cost += own
        items.append(Item(what=" ".join(words_of(process)), cost_ns=own.ns, lasted_ns=began[0] - process.started_ns,
                          detail=began[1]))  # fmt: skip
    if not items:
        return None
    return finding(
        "units that wait until nothing else starts",
        f"{len(items)} programs of units with Type=idle waited for the end of all other jobs, five seconds at most, so "
        "that what these say does not mix with a prompt",
        cost,
        items,
        technique=evidence.technique("userspace_getty_at_once"),
        by_hand="Type=simple in a drop-in of each: serial-getty@.service.d, getty@.service.d",
    )


def find_size_questions(evidence: AuditedBoot) -> Finding | None:
    """Terminals that systemd asks for their size: where nobody answers it waits, before it executes a getty."""
    asked = len(ASKS_SIZE.findall(evidence.console))
    if not asked:
        return None
    items = []
    for process in evidence.costs.processes.values():
        idle_ns = _unanswered_ns(evidence, process)
        if idle_ns:
            items.append(Item(what=" ".join(words_of(process)), cost_ns=idle_ns))
    return finding(
        "terminals asked for their size",
        f"{asked} times systemd asked a terminal where its cursor is, and had no answer in time or one that it waited "
        "for",
        TaskCost(idle_ns=sum(item.cost_ns or 0 for item in items)),
        items,
        technique=evidence.technique("userspace_tty_size_told"),
        by_hand="TTYRows= and TTYColumns= in a drop-in of serial-getty@.service.d; systemd.tty.rows.ttyS0=24 and "
        "systemd.tty.columns.ttyS0=80 on the command line",
    )


def _unanswered_ns(evidence: AuditedBoot, process: Process) -> int:
    """Return the idle time of waits that a clock ended, before the process executed a getty."""
    began = next((t_ns for t_ns, path in process.programs if PurePosixPath(path).name in _GETTYS), 0)
    until_ns = evidence.costs.until_ns
    return sum(
        min(one.end_ns, until_ns) - one.start_ns
        for one in evidence.costs.idles(process.task)
        if one.start_ns < min(began, until_ns)
        and one.wait is not None
        and one.wait.duration_ns < _ANSWER_NS
        and one.wait.waker is not None
        and one.wait.waker.kind is WakeKind.TIMER
    )


def find_console_output(evidence: AuditedBoot) -> Finding | None:
    """Messages that a processor writes to a console itself, byte by byte."""
    tree = evidence.tree
    parts = {"the kernel's messages": _CONSOLES, "what programs say": _TERMINALS}
    below = {what: tree.below(functions) for what, functions in parts.items()}
    spent = {what: int(tree.cost_ns[nodes].sum()) for what, nodes in below.items()}
    idle_ns = sum(int(tree.idle_ns[nodes].sum()) for nodes in below.values())
    items = [Item(what=what, cost_ns=ns, detail=", ".join(parts[what])) for what, ns in spent.items() if ns]
    total = sum(spent.values())
    if total < _LEAST_NS:
        return None
    return finding(
        "console output",
        f"{len(evidence.console):,} bytes were written to the console, each by the processor that had them; on a real "
        "line at 115200 baud a byte takes 87 us",
        TaskCost(total - idle_ns, idle_ns),
        items,
        technique=evidence.technique("cmdline_quiet"),
        by_hand="quiet or a lower loglevel= for the kernel's; ShowStatus=no in system.conf, or "
        "systemd.show_status=no, for systemd's",
    )


def _idle_programs(rootfs: Iterable[Entry]) -> dict[str, str]:
    """Return the programs of units that are of Type=idle with their drop-ins, and the unit of each."""
    texts: dict[str, list[tuple[tuple[int, int, str], str]]] = {}
    for entry in rootfs:
        folder = next((number for number, one in enumerate(_FOLDERS) if entry.path.startswith(one)), None)
        if folder is None:
            continue
        unit, _, rest = entry.path.removeprefix(_FOLDERS[folder]).partition("/")
        if not rest and unit.endswith(".service"):
            texts.setdefault(unit, []).append(((0, folder, ""), entry.data.decode(errors="replace")))
        elif unit.endswith(".service.d") and rest.endswith(".conf"):
            texts.setdefault(unit[: -len(".d")], []).append(((1, folder, rest), entry.data.decode(errors="replace")))
    found = {}
    for unit, parts in texts.items():
        # A unit's file in a later folder stands in the place of the earlier one; drop-ins come on top of either.
        own = max((order for order, _ in parts if not order[0]), default=None)
        whole = "\n".join(text for order, text in sorted(parts) if order[0] or order == own)
        if (_TYPE.findall(whole) or [""])[-1] == "idle":
            found.update(dict.fromkeys(_EXEC.findall(whole), unit))
    return found


def _executed(process: Process, programs: dict[str, str]) -> tuple[int, str] | None:
    """Return when a process executed the first of these programs, and whose that is."""
    for t_ns, path in process.programs:
        for known in (path, f"/usr{path}", path.removeprefix("/usr")):
            if known in programs:
                return t_ns, programs[known]
    return None
