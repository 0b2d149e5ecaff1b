"""Charts of processes, and the kernel's own tracer, worked out again."""

import gzip
import html
import io
import re
import tarfile

from tests.importers.recomputed.figures import MS, US, Figures, Origin, Part, S, figures, ns

_TICK = 10 * MS


def bootchart(packed: str) -> Figures:
    """Blocks of 1/100 s and /proc: a process from its start, or first sample, to its last; CPUs by first and last."""
    logs: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(packed.encode("latin-1")))) as archive:
        for one in archive.getmembers():
            if (stream := archive.extractfile(one)) is not None:
                logs[one.name.rpartition("/")[2]] = stream.read().decode(errors="replace")
    blocks = {
        name: [block.split("\n", 1) for block in log.strip().split("\n\n") if "\n" in block]
        for name, log in logs.items()
        if name.endswith(".log")
    }
    seen: dict[tuple[str, str], tuple[str, int, int, int]] = {}
    for at, rows in blocks["proc_ps.log"]:
        for pid, name, rest in re.findall(r"(?m)^(\d+) \((.*)\) (\S .*)$", rows):
            fields = rest.split()
            if len(fields) < 20:
                continue
            first = seen.get((pid, fields[19]), (name, min(int(at), int(fields[19])), 0, 0))[1]
            seen[pid, fields[19]] = (name, first, int(at), int(fields[11]) + int(fields[12]))
    cpus = [[int(one) for one in rows.split("\n")[0].split()[1:9]] for _, rows in blocks["proc_stat.log"]]
    names = ("user", "nice", "system", "idle", "waiting for disks", "interrupts", "soft interrupts", "stolen")
    disks: dict[str, list[int]] = {}
    for _, rows in blocks["proc_diskstats.log"]:
        for row in rows.splitlines():
            fields = row.split()
            if re.fullmatch(r"[hsv]d[a-z]+|nvme\d+n\d+|mmcblk\d+", fields[2]):
                disks.setdefault(fields[2], []).append(int(fields[12]))
    lengths = [(name, (after - before) * _TICK) for name, before, after in zip(names, cpus[0], cpus[-1], strict=True)]
    lengths += [(f"{name} [{pid}]", cpu * _TICK) for (pid, _), (name, _, _, cpu) in seen.items() if cpu]
    lengths += [(name, (busy[-1] - busy[0]) * MS) for name, busy in disks.items()]
    return figures(spans=[(name, a * _TICK, b * _TICK) for name, a, b, _ in seen.values()], lengths=lengths)


def bootchart_svg(text: str) -> Figures:
    """Each process's comment, and the bar behind it, by the axis' first label; initcalls by what the kernel said."""
    x, s = next(
        (float(x), float(s)) for x, s in re.findall(r'class="sec" x="([\d.]+)"[^>]*>([\d.]+)s<', text) if float(x)
    )
    spans: list[Part] = []
    lengths = []
    name = None
    rows = re.findall(
        r'<!-- (.+) \[(\d+)\] ppid=\d+ runtime=([\d.]+)ms -->|<rect class="ps" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"'
        r'|<!-- thread="([^"]+)" time="([\d.]+)" elapsed="(\d+)"', text,
    )  # fmt: skip
    for process, pid, ran, start, width, call, ended, took in rows:
        if process:
            name = html.unescape(process)
            lengths += [(f"{name} [{pid}]", ns(ran, MS))] if ns(ran, MS) else []
        elif call:
            spans.append((call, ns(ended) - int(took) * US, ns(ended)))
        elif name is not None:
            spans.append((name, round(float(start) * s * S / x), round((float(start) + float(width)) * s * S / x)))
            name = None
    return figures(spans=spans, lengths=lengths)


def ftrace(text: str) -> Figures:
    """Initcalls from start to finish, levels to the next one or the last finish, CPUs from switch to switch."""
    spans: list[Part] = []
    ran: dict[str, int] = {}
    calls: dict[tuple[str, str], int] = {}
    running: dict[str, tuple[str, int]] = {}
    level: tuple[str, int] | None = None
    moments, last = [], 0
    row = r"(?m)^ *(.+?)(?:-| +)(\d+) +\[(\d+)\] (?:\S+ +)? *([\d.]+): +(?:\w+:)?(\w+): +(.*)$"
    for _, pid, cpu, at, event, what in re.findall(row, text):
        t_ns = ns(at)
        if event == "initcall_start":
            calls[re.split(r"[=+ ]", what)[1], pid] = t_ns
        elif event == "initcall_finish":
            name = re.split(r"[=+ ]", what)[1]
            spans.append((name, calls.pop((name, pid)), t_ns))
            last = t_ns
        elif event == "initcall_level":
            spans += [(level[0], level[1], t_ns)] if level is not None else []
            level = (what.partition("=")[2], t_ns)
        elif event == "sched_switch":
            told = re.search(r"next_comm=(.*) next_pid=(\d+)", what) or re.search(r"==> (.*):(\d+) \[", what)
            assert told is not None
            if cpu in running:
                name, since = running[cpu]
                spans += [(name, since, t_ns)] if t_ns > since else []
                if name != "[idle]":
                    ran[name] = ran.get(name, 0) + t_ns - since
            running[cpu] = ("[idle]" if told[2] == "0" else f"{told[1]}-{told[2]}", t_ns)
        elif event.startswith("sched_process"):
            moments.append(t_ns)
    if level is not None:
        spans.append((level[0], level[1], last))
    return figures(spans=spans, moments=moments, lengths=ran.items())


def suspended(text: str) -> Figures:
    """pm-graph's events: steps and callbacks of devices from begin to end; the whole is suspend_enter's."""
    open_parts: dict[str, int] = {}
    spans: list[Part] = []
    for at, step, edge in re.findall(r"(?m)([\d.]+): suspend_resume: +(\S+) (begin|end)$", text):
        if edge == "begin":
            open_parts[step] = ns(at)
        else:
            spans.append((step, open_parts.pop(step), ns(at)))
    for at, edge, device in re.findall(r"(?m)([\d.]+): device_pm_callback_(start|end): +(.+?),", text):
        if edge == "start":
            open_parts[device] = ns(at)
        else:
            spans.append((device, open_parts.pop(device), ns(at)))
    whole = max(spans, key=lambda span: span[2] - span[1])
    return figures(spans=spans, phases=[("suspend and resume", whole[1], whole[2])])


ORIGINS = {
    "bootchart": (
        Origin("debian-13/bootchart.tgz", "a shell loop in Debian 13, in bootchart2's layout", bootchart, raw=True),
        Origin("other-origins/busybox-bootchartd.tgz", "bootchartd of busybox 1.35.0", bootchart, raw=True),
    ),
    "bootchart-svg": (
        Origin("debian-13/systemd-bootchart.svg.xz", "systemd-bootchart 235 (Debian 13)", bootchart_svg),
        Origin("other-origins/bootchart-relative.svg", "another machine, with `rel`, hand-made", bootchart_svg),
    ),
    "ftrace": (
        Origin("debian-13/ftrace-events.txt.xz", "tracefs of Linux 6.12 (Debian 13)", ftrace),
        Origin("traces/perf-script.txt", "perf script, hand-made", ftrace),
        Origin("traces/pm-graph.txt", "sleepgraph of pm-graph, hand-made", suspended),
        Origin("other-origins/trace-cmd-suspend.txt", "trace-cmd report of a suspend, hand-made", suspended),
    ),
}  # fmt: skip
