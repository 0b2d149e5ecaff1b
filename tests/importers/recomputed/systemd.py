"""What systemd and its tools say of a boot, worked out again."""

import html
import json
import re
from datetime import UTC, datetime

from tests.importers.recomputed.console import dmesg_calls
from tests.importers.recomputed.figures import MS, US, Figures, Origin, Part, S, Took, figures, following, ns

_PARTS = ("firmware", "loader", "kernel", "initrd", "userspace")


def _span_ns(text: str) -> int:
    units = {"min": 60 * S, "s": S, "ms": MS, "us": US, "h": 3600 * S}
    return sum(ns(number, units[unit]) for number, unit in re.findall(r"([\d.]+)(min|ms|us|s|h)", text))


def analyze(text: str) -> Figures:
    """`time`: parts that follow each other; `blame`: lengths; `critical-chain`: `@` from systemd's start, `+`."""
    started = re.search(r"Startup finished in (.*?)(?: =|$)", text, re.MULTILINE)
    said = re.findall(r"([\dminsuh. ]+) \((\w+)\)", started[1]) if started is not None else []
    cuts, at = [], 0
    for took, name in said:
        cuts.append((name, at))
        at += _span_ns(took)
    kernel = dict(cuts).get("kernel", 0)
    cuts, at = [(name, start - kernel) for name, start in cuts], at - kernel
    zero = dict(cuts).get("userspace", 0)
    reached = re.findall(r"(?m)^(\S+) reached after ([\dminsuh. ]+) in userspace", text)
    chain = re.findall(r"(?m)^[\s└─]*(\S+\.\w+) @([\dminsuh. ]+?)(?: \+([\dminsuh. ]+))?$", text)
    blame = re.findall(r"(?m)^ *((?:[\d.]+(?:min|ms|us|s|h) ?)+) (\S+\.\w+)$", text)
    begun = [(name, zero + _span_ns(start), _span_ns(took)) for name, start, took in chain]
    return figures(
        spans=[(name, start, start + took) for name, start, took in begun],
        moments=[zero + _span_ns(after) for _, after in reached],
        lengths=[(name, _span_ns(took)) for took, name in blame],
        phases=following(cuts, at) if cuts else [],
    )


def show(text: str) -> Figures:
    """`systemctl show`: the manager's stamps in us; what is 0 never was; initrd's stamps cut the kernel off."""
    us = {name: int(value) for name, value in re.findall(r"(?m)^(\w+)TimestampMonotonic=(\d+)$", text)}
    cuts = [("kernel", 0)] + ([("initrd", us["InitRD"] * US)] if us["InitRD"] else [])
    cuts.append(("userspace", us["Userspace"] * US))
    names = {"Security": "security", "Generators": "generators", "UnitsLoad": "units load"}
    spans = [
        (where + name, us[f"{before}{key}Start"] * US, us[f"{before}{key}Finish"] * US)
        for before, where in (("", ""), ("InitRD", "initrd: "))
        for key, name in names.items()
        if us[f"{before}{key}Start"]
    ]
    return figures(spans=spans, phases=following(cuts, us["Finish"] * US))


def plot_json(text: str) -> Figures:
    """Units as objects, in us, up to the line behind the list."""
    rows = json.loads(text[: text.rindex("]") + 1])
    return _plotted([(row["name"], row["activating"], row["activated"], row["time"]) for row in rows], US)


def plot_table(text: str) -> Figures:
    """The same as a table, whose times are cut to ms; columns are parted by two blanks or more, or by the heads."""
    head, *rows = text.split("\n\n")[0].splitlines()
    edges = [found.start() for found in re.finditer(r"\S+", head)]
    cells = [[row[a:b].strip() for a, b in zip(edges, [*edges[1:], len(row)], strict=True)] for row in rows]
    units = [(name, _span_ns(activating), _span_ns(activated), _span_ns(took))
             for name, activated, activating, took, _, _ in cells]  # fmt: skip
    return _plotted(units, 1)


def _plotted(units: list[tuple[str, int, int, int]], unit: int) -> Figures:
    return figures(
        spans=[(name, begun * unit, (begun + took) * unit) for name, begun, _, took in units if took],
        moments=[active * unit for _, begun, active, _ in units if active and active >= begun],
    )


def plot_svg(text: str) -> Figures:
    """Bars up to the legend: x in hundredths of a second. The phases' rows come first, then one row a unit."""
    drawn, phases, units, moments = text.split("</svg>")[0], [], [], []
    bars = re.findall(
        r'<rect class="(\w+)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"|<text class="(?:left|right)"[^>]*>(.*?)</text>',
        drawn,
    )
    bar: tuple[int, int] | None = None
    for kind, x, width, name in bars:
        start, end = (ns(x, 10 * MS), ns(x, 10 * MS) + ns(width, 10 * MS)) if kind else (0, 0)
        if kind in _PARTS:
            phases.append((kind, start, end))
        elif kind in ("security", "generators", "unitsload"):
            units.append((kind.replace("unitsload", "units load"), start, end))
        elif kind == "active" and bar is None:
            phases.append(("userspace", start, end))
        elif kind == "activating":
            bar = (start, end)
        elif name and bar is not None:
            found = re.match(
                r"(\S+\.(?:service|socket|target|device|mount|swap|path|slice|scope|timer|automount))\b", name
            )
            if found is None:
                break
            units += [(html.unescape(found[1]), *bar)] if bar[1] > bar[0] else []
            moments.append(bar[1])
            bar = None
    return figures(spans=units, moments=moments, phases=phases)


def dump(text: str) -> Figures:
    """Units by wall clock in whole seconds, from the manager's first stamp, or that after the clock was set."""

    def wall(stamp: str) -> int | None:
        found = re.match(r"\w{3} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC", stamp)
        return int(datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp()) * S if found else None

    stamps = [wall(at) for at in re.findall(r"(?m)^Timestamp [\w-]+: (.*)$", text)]
    steps = sorted(at for at in stamps if at is not None)
    zero = max([steps[0], *(b for a, b in zip(steps, steps[1:], strict=False) if b - a > 86_400 * S)])
    spans, moments = [], []
    for block in re.split(r"(?m)^(?:→|->) Unit ", text)[1:]:
        name = block.split(":\n")[0].strip()
        first = {}
        for key, at in re.findall(r"(?m)^\t(Inactive Exit|Active Enter|Inactive Enter) Timestamp: (.*)$", block):
            first.setdefault(key, wall(at))
        begun, active, gone = (first.get(key) for key in ("Inactive Exit", "Active Enter", "Inactive Enter"))
        ended = active if active is not None else gone
        if begun is not None and ended is not None and zero <= begun <= ended:
            spans.append((name, begun - zero, ended - zero))
        if active is not None:
            moments.append(active - zero)
    return figures(spans=spans, moments=moments)


_STARTING, _STARTED = "7d4958e842da4a758f6c1cdc7b36dcc5", "39f53479d3a045ac8e11786248231fbf"
_FINISHED = "b07a249cd024414a82dd00cd181378ff"


def journal(text: str) -> Figures:
    """Of `-o json`: the messages of everybody but the kernel by their stamps, units, and systemd's last message.

    Of the kernel's messages what its initcalls took, by its own stamps: where they stand hangs on how the clocks lie.
    """
    entries = [json.loads(row) for row in text.splitlines()]
    at = [int(entry["__MONOTONIC_TIMESTAMP"]) * US for entry in entries]
    boot = [
        (t_ns, entry) for t_ns, entry in zip(at, entries, strict=True) if entry["_BOOT_ID"] == entries[0]["_BOOT_ID"]
    ]
    begun: dict[str, int] = {}
    spans: list[Part] = []
    moments, parts = [], {}
    for t_ns, entry in boot:
        if entry["_TRANSPORT"] == "kernel":
            continue
        moments.append(t_ns)
        if entry.get("MESSAGE_ID") == _STARTING:
            begun[entry["UNIT"]] = t_ns
        elif entry.get("MESSAGE_ID") == _STARTED:
            moments.append(t_ns)
            if entry["UNIT"] in begun:
                spans.append((entry["UNIT"], begun.pop(entry["UNIT"]), t_ns))
        elif entry.get("MESSAGE_ID") == _FINISHED:
            parts = {
                name: int(entry[f"{name.upper()}_USEC"]) * US for name in _PARTS if f"{name.upper()}_USEC" in entry
            }
    cuts, end = [], 0
    for name, took in parts.items():
        cuts.append((name, end))
        end += took
    phases = following(cuts, end) if cuts else []
    return figures(spans=spans, moments=moments, lengths=_kernel_calls(text), phases=phases)


def _kernel_calls(text: str) -> list[Took]:
    rows = [(int(entry["_SOURCE_MONOTONIC_TIMESTAMP"]) * US, entry["MESSAGE"])
            for entry in map(json.loads, text.splitlines())
            if entry["_TRANSPORT"] == "kernel" and "_SOURCE_MONOTONIC_TIMESTAMP" in entry]  # fmt: skip
    return [(name, end - start) for name, start, end in dmesg_calls(rows)]


_EVERYBODY = ("journal", "systemd")
ORIGINS = {
    "journal": (
        Origin("journal/boot.json", "systemd 257's form, hand-made", journal, laid_over=_EVERYBODY),
        Origin("debian-12/journal.json.xz", "journalctl 252 (Debian 12)", journal, laid_over=_EVERYBODY),
    ),
    "systemd-analyze": (
        Origin("debian-13/systemd-analyze-time.txt", "time of systemd 257 (Debian 13)", analyze),
        Origin("debian-12/systemd-analyze-time.txt", "time of systemd 252 (Debian 12)", analyze),
        Origin("debian-13-dracut/systemd-analyze-time.txt", "time of systemd 257 behind dracut", analyze),
        Origin("debian-13/systemd-analyze-blame.txt", "blame of systemd 257 (Debian 13)", analyze),
        Origin("debian-12/systemd-analyze-blame.txt", "blame of systemd 252 (Debian 12)", analyze),
        Origin("debian-13/systemd-analyze-critical-chain.txt", "critical-chain of systemd 257 (Debian 13)", analyze),
        Origin("debian-12/systemd-analyze-critical-chain.txt", "critical-chain of systemd 252 (Debian 12)", analyze),
    ),
    "systemd-show": (
        Origin("debian-13/systemctl-show.txt", "systemd 257 (Debian 13)", show),
        Origin("debian-12/systemctl-show.txt", "systemd 252 (Debian 12)", show),
        Origin("debian-13-dracut/systemctl-show.txt", "systemd 257 behind dracut", show),
    ),
    "systemd-plot": (
        Origin("debian-13/systemd-analyze-plot.json", "plot --json of systemd 257 (Debian 13)", plot_json),
        Origin("debian-13-dracut/systemd-analyze-plot-table.txt.xz", "plot --table, behind dracut", plot_table),
        Origin("debian-13-dracut/systemd-analyze-plot.json.xz", "plot --json, behind dracut", plot_json),
    ),
    "systemd-svg": (
        Origin("debian-13/systemd-analyze-plot.svg.xz", "systemd 257 (Debian 13)", plot_svg),
        Origin("debian-12/systemd-analyze-plot.svg.xz", "systemd 252 (Debian 12)", plot_svg),
        Origin("debian-13-dracut/systemd-analyze-plot.svg.xz", "systemd 257 behind dracut", plot_svg),
    ),
    "systemd-dump": (
        Origin("debian-13/systemd-analyze-dump.txt.xz", "systemd 257 (Debian 13)", dump),
        Origin("debian-12/systemd-analyze-dump.txt.xz", "systemd 252 (Debian 12)", dump),
    ),
}  # fmt: skip
