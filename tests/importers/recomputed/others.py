"""Android, cloud-init, and series of boots, worked out again."""

import csv
import io
import json
import re
from datetime import UTC, datetime

from tests.importers.recomputed.figures import MS, Figures, Origin, Part, S, figures, following, ns


def logcat(text: str) -> Figures:
    """The first of each marker, by the number behind its name; a phase runs from one to the next."""
    first: dict[str, int] = {}
    for name, ms in re.findall(r"((?:boot_progress|wm_boot)_\w+): (\d+)$", text, re.MULTILINE):
        first.setdefault(name.removeprefix("boot_progress_"), int(ms) * MS)
    marks = sorted((at, name) for name, at in first.items())
    # Ten minutes and more after the kernel's start, a framework starts that is no part of its boot.
    kernel = [("kernel and init", 0)] if marks[0][0] < 600 * S else []
    cuts = [*kernel, *((f"from {name}", at) for at, name in marks[:-1])]
    return figures(moments=first.values(), phases=following(cuts, marks[-1][0]))


def getprop(text: str) -> Figures:
    """ro.boottime.*: services by the ns of their start; init's stages are ns or ms, as init's README says."""
    found = re.findall(r"\[ro\.boottime\.([\w.@-]+)\]: \[(\d+)\]", text)
    stages = [(name, int(value)) for name, value in found if name.startswith("init.")]
    return figures(
        moments=[int(value) for name, value in found if not name.startswith("init.")],
        lengths=[(name, value * (1 if name in ("init.first_stage", "init.selinux") else MS)) for name, value in stages],
    )


def blame(text: str) -> Figures:
    """cloud-init analyze blame: seconds and the step's name."""
    return figures(lengths=[(name, ns(s)) for s, name in re.findall(r"(?m)^ +([\d.]+)s \((\S+)\)$", text)])


def analyzed(text: str) -> Figures:
    """cloud-init analyze show: `@` is a step's beginning; a stage is as long as it says from its first step on."""
    record = text.split("-- Boot Record 02")[0]
    spans: list[Part] = []
    phases: list[Part] = []
    for name, body, took in re.findall(r"(?s)Starting stage: (\S+)\n(.*?)Finished stage: \(\S+\) ([\d.]+) sec", record):
        steps = re.findall(r"\|`->(.*?) @([\d.]+)s \+([\d.]+)s", body)
        spans += [(step, ns(at), ns(at) + ns(length)) for step, at, length in steps]
        phases.append((name, ns(steps[0][1]), ns(steps[0][1]) + ns(took)))
    return figures(spans=[*spans, *phases], phases=phases)


def _events(events: list[tuple[int, str, str]], rows: list[int]) -> Figures:
    # (ns, start or finish, name); a stage is a name without a slash.
    spans, begun = [], {}
    for t_ns, kind, name in events:
        if kind == "start":
            begun[name] = t_ns
        elif name in begun:
            spans.append((name, begun.pop(name), t_ns))
    return figures(
        spans=spans, moments=rows, phases=sorted((one for one in spans if "/" not in one[0]), key=lambda one: one[1])
    )


def log(text: str) -> Figures:
    """cloud-init.log: each row by its stamp, start and finish of steps; zero is the first row."""
    found = re.findall(r"(?m)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) - \S+: (.*)$", text)
    at = [int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * S + int(ms) * MS for day, ms, _ in found]
    rows = [(t_ns - at[0], what) for t_ns, (_, _, what) in zip(at, found, strict=True)]
    # A stage's own start is on record where its log was open by then; else the row that says that it runs is its start.
    telling = r"(start|finish): ([\w./-]+)|Cloud-init v\. \S+ running '(\S+)'"
    events = []
    for t_ns, what in rows:
        if (match := re.match(telling, what)) is not None:
            stage = {"init": "init-network"}.get(match[3], (match[3] or "").replace(":", "-"))
            events.append((t_ns, match[1] or "start", match[2] or stage))
    return _events(events, [t_ns for t_ns, _ in rows])


def log_without_events(text: str) -> Figures:
    """cloud-init.log of 0.7.5: a stage begins at its `Up`, and is as long as its last row says."""
    first, *later = re.split(r"(?=\n\S+ \S+ - util.py\[DEBUG\]: Cloud-init v\. \S+ running 'init-local')", text)
    assert later
    at = []
    for row in first.splitlines():
        clock = re.search(r"(\d\d):(\d\d):(\d\d)(?:,(\d{3}))?", row)
        assert clock is not None
        hours, minutes, seconds, ms = (int(figure or 0) for figure in clock.groups())
        midnight = 0 if row.startswith(first[:10]) else 86400
        at.append((midnight + hours * 3600 + minutes * 60 + seconds) * S + ms * MS)
    ups = re.findall(r"running '(\S+)' .* Up ([\d.]+) seconds", first)
    took = re.findall(r"mode '\w+' took ([\d.]+) seconds", first)
    names = {"init": "init-network", "modules:config": "modules-config"}
    phases = [
        (names.get(name, name), ns(up) - ns(ups[0][1]), ns(up) - ns(ups[0][1]) + ns(length))
        for (name, up), length in zip(ups, took, strict=True)
    ]
    ends = [(t_ns - at[0], row) for t_ns, row in zip(at, first.splitlines(), strict=True) if "resize_devices" in row]
    steps = [("init-network/resize_devices", t_ns - 250 * MS, t_ns) for t_ns, _ in ends]
    return figures(spans=[*phases, *steps], moments=[t_ns - at[0] for t_ns in at], phases=phases)


def dump(text: str) -> Figures:
    """cloud-init analyze dump: the same as JSON, with seconds since 1970."""
    events = json.loads(text)
    micros = [round(one["timestamp"] * 1e6) * 1000 for one in events]
    rows = [(t_ns - micros[0], one["event_type"], one["name"]) for t_ns, one in zip(micros, events, strict=True)]
    return _events(rows, [t_ns for t_ns, _, _ in rows])


def hyperfine(text: str) -> Figures:
    """The times of each command, in seconds."""
    results = json.loads(text)["results"]
    return figures(series=[(one["command"], float(time) * S) for one in results for time in one["times"]])


def table(text: str) -> Figures:
    """A table of figures, in the units of its heads; the column that counts boots is no figure."""
    rows = list(csv.DictReader(io.StringIO(text)))
    units = {"s": S, "ms": MS}
    return figures(series=[
        (name, float(value) * units[name.rpartition("_")[2]])
        for row in rows for name, value in row.items() if name.rpartition("_")[2] in units
    ])  # fmt: skip


ORIGINS = {
    "android": (
        Origin("android/logcat-events.txt", "logcat of a phone whose clock is set, hand-made", logcat),
        Origin("other-origins/logcat-other-phone.txt", "logcat of another, with three markers, hand-made", logcat),
        Origin("other-origins/boot-progress-car.txt", "a car's Android 12, by quoted figures", logcat),
        Origin("other-origins/logcat-container.txt", "Android in a container of 2026, by quoted figures", logcat),
        Origin("android/getprop.txt", "getprop of Android 14, hand-made", getprop),
    ),
    "cloud-init": (
        Origin("cloud-init/show.txt", "show of cloud-init 24.1, hand-made", analyzed),
        Origin("other-origins/cloud-init-22.4-show.txt", "show of cloud-init 22.4.2 (Debian 12)", analyzed),
        Origin("cloud-init/cloud-init.log", "the log of cloud-init 24.1, hand-made", log),
        Origin("other-origins/cloud-init-22.4.log", "the log of cloud-init 22.4.2 (Debian 12)", log),
        Origin("cloud-init/stages-without-starts.log", "a log as machines have it, hand-made", log),
        Origin("cloud-init/before-events.log", "a log of cloud-init 0.7.5's shape, hand-made", log_without_events),
        Origin("cloud-init/dump.json", "dump of cloud-init 24.1, hand-made", dump),
        Origin("other-origins/cloud-init-22.4-dump.json", "dump of cloud-init 22.4.2 (Debian 12)", dump),
        Origin("cloud-init/blame.txt", "blame of cloud-init 24.1, hand-made", blame),
        Origin("other-origins/cloud-init-22.4-blame.txt", "blame of cloud-init 22.4.2 (Debian 12)", blame),
    ),
    "series": (
        Origin("series/hyperfine.json", "hyperfine 1.18's form, hand-made", hyperfine),
        Origin("other-origins/hyperfine-1.15.json", "hyperfine 1.15.0 (Debian 12)", hyperfine),
        Origin("series/two-humps.csv", "a table of a Raspberry Pi 4", table),
    ),
}  # fmt: skip
