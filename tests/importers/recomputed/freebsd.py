"""FreeBSD's TSLOG and boottrace, worked out again."""

import re

from tests.importers.recomputed.figures import MS, Figures, Origin, Part, figures, following

_LOADER, _MAIN, _INIT = "0x0", "mi_startup", "start_init"


def tslog(text: str) -> Figures:
    """Calls from ENTER to EXIT of the same name in one thread; those still open end with the last record.

    An EXIT closes what was entered since its ENTER; one without an ENTER is left out. The loader's end with the
    kernel's first record. Processes from fork to exit, behind what the kernel did.
    """
    rows = re.findall(r"(?m)^(0x[0-9a-f]+) (\d+) (ENTER|EXIT|THREAD|EVENT) (.*)$", text)
    hertz = re.search(r"machdep.tsc_freq: (\d+)", text)
    scale = (lambda tick: tick * 10**9 // int(hertz[1])) if hertz is not None else (lambda tick: tick)
    lives = re.findall(r'(?m)^(\d+) (\d+) (\d+) (\d+) "(.*)" "(.*)"$', text)
    recorded = max((int(tick) for _, tick, _, _ in rows), default=0)
    end = max([recorded, *(int(tick) for life in lives for tick in life[2:4])])
    kernel = next((int(tick) for thread, tick, _, _ in rows if thread != _LOADER), end)
    open_calls: dict[str, list[tuple[str, int]]] = {}
    calls: list[tuple[str, Part]] = []
    for thread, tick, kind, name in rows:
        stack = open_calls.setdefault(thread, [])
        if kind == "ENTER":
            stack.append((name, int(tick)))
        elif kind == "EXIT" and any(entered == name for entered, _ in stack):
            while True:
                entered, start = stack.pop()
                calls.append((thread, (entered, start, int(tick))))
                if entered == name:
                    break
    calls += [(thread, (name, start, recorded)) for thread, stack in open_calls.items() for name, start in stack]
    calls = [
        (thread, (name, start, min(stop, kernel) if thread == _LOADER else stop))
        for thread, (name, start, stop) in calls
    ]
    booted = next((stop for _, (name, _, stop) in calls if name == _INIT), None)
    processes = _processes(lives, booted, end)
    user = [("programs", booted or processes[0][1], _log_written(processes, end))] if processes else []
    moments = [int(tick) for _, tick, kind, name in rows
               if kind == "EVENT" and name.split(" ")[0] not in ("WAIT", "UNWAIT", "HOLD", "RELEASE")]  # fmt: skip
    phases = _phases([(int(tick), kind, thread, name) for thread, tick, kind, name in rows], calls, recorded) + user
    return figures(
        spans=[(name, scale(start), scale(stop)) for name, start, stop in [*(call for _, call in calls), *processes]],
        moments=[scale(tick) for tick in moments],
        phases=[(name, scale(start), scale(stop)) for name, start, stop in phases],
    )


def _phases(rows: list[tuple[int, str, str, str]], calls: list[tuple[str, Part]], end: int) -> list[Part]:
    main = next((thread for thread, (name, _, _) in calls if name == _MAIN), None)
    if main is None:
        return []
    cuts = [("firmware, before the first record", 0)]
    cuts += [("loader", rows[0][0])] if rows[0][2] == _LOADER else []
    cuts.append(("kernel until mi_startup", min(start for thread, (_, start, _) in calls if thread == main)))
    cuts.append(("SYSINITs", min(start for _, (name, start, _) in calls if name == _MAIN)))
    init = [(start, stop) for _, (name, start, stop) in calls if name == _INIT]
    cuts += [("start_init", init[0][0])] if init else []
    return following(cuts, init[0][1] if init else end)


def _processes(lives: list[tuple[str, ...]], booted: int | None, end: int) -> list[Part]:
    # Name, fork and exit of programs, none longer than its parent; init runs from when the kernel lets it.
    known: dict[str, Part] = {}
    for pid, parent, forked, exited, program, looked in sorted(lives, key=lambda life: int(life[2])):
        if program or looked or parent != "0":
            name = program or looked or known[parent][0]
            stop = int(exited) if int(exited) >= int(forked) else end
            known[pid] = (name, int(forked), min(stop, known[parent][2]) if parent in known else stop)
    if "1" in known:
        children = [int(forked) for _, parent, forked, *_ in lives if parent == "1"]
        known["1"] = (known["1"][0], booted if booted is not None else min(children), known["1"][2])
    return list(known.values())


def _log_written(processes: list[Part], end: int) -> int:
    # The sysctl that wrote the dump is no part of the boot.
    return next(
        (start for name, start, stop in processes if name == "sysctl" and 2 * (stop - start) > end - start), end
    )


def boottrace(text: str) -> Figures:
    """Columns of the table of boot; an event is as long as its delta; the kernel's part ends with its last sysinit."""
    tables = text.split("Total measured time")
    rows = [
        (int(ms) * MS, int(delta) * MS, event.strip())
        for table in tables
        for ms, delta, event in re.findall(r"(?m)^ +\d+ +(\d+) +(\d+) .{24} (.{40}) +\d+ ", table)
    ]
    boot = [row for row in rows if f" {row[0] // MS} " in tables[0]]
    kernel = [at for at, _, event in boot if event.startswith("sysinit")]
    return figures(
        spans=[(event, at - delta, at) for at, delta, event in boot[1:] if delta],
        moments=[at for at, _, _ in rows],
        phases=[("kernel", boot[0][0], kernel[-1]), ("programs", kernel[-1], boot[-1][0])],
    )


ORIGINS = {
    "boottrace": (
        Origin("freebsd/boottrace.txt", "FreeBSD 14.3's kern_boottrace.c, hand-made", boottrace),
        Origin("other-origins/boottrace-short.txt", "a machine without rc's own events, hand-made", boottrace),
        Origin("other-origins/boottrace-rows-missing.txt", "boottrace(4)'s own sample, by quoted figures", boottrace),
    ),
    "tslog": (
        Origin("tslog/kernel-head.tslog", "FreeBSD in Firecracker, as published", tslog),
        Origin("tslog/processes.tslog", "its programs, as published", tslog),
        Origin("tslog/waits.tslog", "loader, kernel and programs, hand-made", tslog),
    ),
}  # fmt: skip
