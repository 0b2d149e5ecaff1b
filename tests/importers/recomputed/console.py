"""Kernel logs and consoles with a host's stamps, worked out again."""

import base64
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime

from tests.importers.recomputed.figures import US, Figures, Origin, Part, S, figures, following, ns

USER = "user space, as far as logged"
_STAMP = r"\[ *(\d+\.\d{6})\](?:\[ *[TC]\d+\])? ?(.*)"


def _kernel_end(rows: Iterable[tuple[int, str]]) -> int | None:
    # The line that names init, else the last freed memory before a program's first line, else that line.
    known = list(rows)
    for pattern in (
        r"Run \S+ as init process",
        r"Freeing (?:unused kernel|init) ",
        r"(?:systemd|init|udevd)(?:\[\d+\])?: ",
    ):
        found = [t_ns for t_ns, what in known if re.search(pattern, what)]
        if found:
            return found[0] if "Run" in pattern or "systemd" in pattern else found[-1]
    return None


def dmesg_calls(rows: list[tuple[int, str]]) -> list[Part]:
    """Return initcalls from line to line, and probes, which say how long they took."""
    spans: list[Part] = []
    begun: dict[str, int] = {}
    for t_ns, what in rows:
        if (found := re.match(r"calling +([^\s+]+)\+.* @ \d+$", what)) is not None:
            begun[found[1]] = t_ns
        elif (found := re.match(r"initcall ([^\s+]+)\+.* returned -?\d+ after", what)) is not None and found[
            1
        ] in begun:
            spans.append((found[1], begun.pop(found[1]), t_ns))
        elif (found := re.match(r"probe of (\S+) returned -?\d+ after (\d+) usecs", what)) is not None:
            spans.append((found[1], t_ns - int(found[2]) * US, t_ns))
    return spans


def dmesg(text: str) -> Figures:
    """Kernel lines by their stamps; the initcalls' phase begins with the first of PID 1's, and ends with the last."""
    rows = [(ns(at), what.strip()) for at, what in re.findall(rf"(?m){_STAMP}$", text)]
    spans = dmesg_calls(rows)
    by_init = [t_ns for t_ns, what in rows if re.match(r"calling .* @ 1$", what)]
    ended = [t_ns for t_ns, what in rows if re.match(r"initcall .* returned", what)]
    first, last = rows[0][0], max(t_ns for t_ns, _ in rows)
    end = _kernel_end(rows)
    assert end is not None
    cuts = [("kernel", first), (USER, end)]
    if by_init:
        called = max(t_ns for t_ns in ended if t_ns <= end)
        cuts = [
            ("kernel, to its initcalls", first),
            ("initcalls", by_init[0]),
            ("kernel, to init", called),
            (USER, end),
        ]
    return figures(spans=spans, moments=[t_ns for t_ns, _ in rows], phases=following(cuts, last))


def marks(text: str) -> Figures:
    """Counter readings, and the kernel's lines on the same counter, by the mark that was printed soonest."""
    stated = re.search(r"Timer rate: (\d+) Hz", text)
    driven = re.search(r"running at ([\d.]+)MHz", text)
    hertz = int(stated[1]) if stated is not None else round(float(driven[1]) * 1e6) if driven is not None else 0
    rows = [(ns(at), what) for at, what in re.findall(rf"(?m){_STAMP}$", text)]
    read = [(t_ns, name, int(ticks) * S // hertz)
            for t_ns, what in rows for name, ticks in re.findall(r"mark: (\w+)\(\): (\d+)", what)]  # fmt: skip
    zero = max(at - t_ns for t_ns, _, at in read)
    end = _kernel_end(rows)
    assert end is not None
    cuts = [("before the kernel", 0), ("kernel, before its clock", read[0][2]), ("kernel", zero), (USER, zero + end)]
    return figures(
        spans=[(name, before, at) for (_, _, before), (_, name, at) in zip(read, read[1:], strict=False)],
        moments=[*(at for _, _, at in read), *(zero + t_ns for t_ns, _ in rows)],
        phases=following(cuts, zero + rows[-1][0]),
    )


_LOADERS = (
    (r"U-Boot SPL \d", "U-Boot SPL"), (r"U-Boot \d", "U-Boot"), (r"OpenSBI v", "OpenSBI"),
)  # fmt: skip


def _on_host(rows: list[tuple[int, str]], *, beside: Iterable[int] = ()) -> Figures:
    # Lines by the host's stamps. A part begins with its loader's banner, the kernel with its first line, user space
    # with the line that hands over, which came late by what it is further behind the kernel's stamp than the most
    # punctual of the last quarter. Initcalls and probes are lengths, by the kernel's stamps.
    cuts: list[tuple[str, int]] = []
    for t_ns, what in rows:
        name = next((name for pattern, name in _LOADERS if re.match(pattern, what)), None)
        if name is not None and name not in dict(cuts):
            cuts.append((name, t_ns))
    banner = next(t_ns for t_ns, what in rows if re.search(r"Linux version \d", what))
    stamped = [(t_ns, ns(found[1]), found[2]) for t_ns, what in rows if (found := re.search(_STAMP, what)) is not None]
    behind = min((t_ns - at for t_ns, at, _ in stamped[len(stamped) * 3 // 4 :]), default=0)
    number = _kernel_end([(number, what) for number, (_, _, what) in enumerate(stamped)])
    end = stamped[number][0] if number is not None else None
    late = end - stamped[number][1] - behind if number is not None and end is not None else 0
    calls = dmesg_calls([(at, what.strip()) for _, at, what in stamped])
    first = [] if cuts else [("before the kernel's first line", rows[0][0])]
    named = [*first, *cuts, ("kernel", banner)] + ([(USER, end)] if end is not None else [])
    parts = [part for part in following(named, rows[-1][0]) if part[2] > part[1]]
    return figures(
        moments=[*(t_ns for t_ns, _ in rows), *beside],
        lengths=[(name, stop - start) for name, start, stop in calls],
        phases=parts,
        earlier_ns=max(late, 0),
    )


def grabserial(text: str) -> Figures:
    """[SECONDS DELTA] LINE; a match makes the clock begin anew, so the deltas are added up."""
    at, rows = 0, []
    for delta, what in re.findall(r"(?m)^\[\d+\.\d{6} (\d+\.\d{6})\] ?(.*)$", text):
        at += ns(delta)
        rows.append((at, what))
    return _on_host([(t_ns - rows[0][0], what) for t_ns, what in rows])


def kernelci(text: str) -> Figures:
    """HH:MM:SS.micros LINE, over midnight."""
    rows, days, before = [], 0, 0
    for hour, minute, second, what in re.findall(r"(?m)^(\d\d):(\d\d):(\d\d\.\d{6})  (.*)$", text):
        at = (int(hour) * 60 + int(minute)) * 60 * S + ns(second)
        days, before = days + (at < before), at
        rows.append((at + days * 86_400 * S, what))
    return _on_host([(at - rows[0][0], what) for at, what in rows])


def lava(text: str) -> Figures:
    """One flow mapping of YAML a line: what the board wrote has the level target, the rest is the lab's."""
    found = re.findall(r'(?m)^- \{"dt": "(\S+)", "lvl": "(\w+)", "msg": "?(.*?)"?\}$', text)
    at = [round(datetime.fromisoformat(when).replace(tzinfo=UTC).timestamp() * 1e6) * US for when, _, _ in found]
    rows = [(t_ns - at[0], level, what) for t_ns, (_, level, what) in zip(at, found, strict=True)]
    board = [
        (t_ns, what.replace(r"\e", r"\x1b").encode("latin-1").decode("unicode_escape"))
        for t_ns, level, what in rows
        if level in ("target", "feedback")
    ]
    return _on_host(board, beside=[t_ns for t_ns, level, _ in rows if level not in ("target", "feedback")])


def watched(text: str) -> Figures:
    """bootlab's record: [port, ns, base64 of what arrived]; a line has the stamp of the read with its first byte."""
    head, *reads = text.splitlines()
    start = json.loads(head)["start_ns"]
    rows: list[tuple[int, bytes]] = []
    begun = False
    for line in reads:
        if not isinstance(read := json.loads(line), list):
            continue
        _, t_ns, data = read
        for piece in base64.b64decode(data).splitlines(keepends=True):
            if begun:
                rows[-1] = (rows[-1][0], rows[-1][1] + piece)
            else:
                rows.append((t_ns - start, piece))
            begun = not piece.endswith(b"\n")
    return _on_host([(t_ns, piece.decode(errors="replace").strip("\r\n")) for t_ns, piece in rows])


def loaders(text: str) -> Figures:
    """Lines with a loader's own stamp; what led to each is its own length, until a program counts anew."""
    found = [(ns(at), what) for at, what in re.findall(r"(?m)^\[ *(\d+\.\d{3}(?:\d{3})?)\] ?(.*)$", text)]
    spans = [(what, before, at) for (before, _), (at, what) in zip(found, found[1:], strict=False)]
    return figures(spans=spans, moments=[at for at, _ in found])


_BOTH = ("console", "lab")
ORIGINS = {
    "dmesg": (
        Origin("serial-initcall_debug.log", "Linux 6.1 (Debian 12) on QEMU's q35, its console", dmesg),
        Origin("debian-13/dmesg.txt.xz", "Linux 6.12 (Debian 13) with systemd, dmesg", dmesg),
        Origin("other-origins/dmesg-4.14.txt", "Linux 4.14 on an i.MX8, hand-made", dmesg),
    ),
    "kernel-marks": (
        Origin("marks/early-marks.log", "5.14.0-366.el9 of CentOS Automotive", marks),
        Origin("other-origins/marks-another-boot.log", "an earlier kernel of it, by quoted figures", marks),
    ),
    "grabserial": (
        Origin("grabserial-match.log", "grabserial 2.0.4 on Debian 12's kernel", grabserial, laid_over=_BOTH),
        Origin("debian-13/grabserial.log.xz", "grabserial 2.1.0 on Debian 13's kernel", grabserial, laid_over=_BOTH),
    ),
    "lava": (
        Origin("lab/lava.yaml", "LAVA's YAML, hand-made", lava, laid_over=_BOTH),
        Origin("other-origins/lava-2023.01.yaml.xz", "lava-dispatcher 2023.01 (Debian 12)", lava, laid_over=_BOTH),
        Origin("lab/kernelci.txt", "KernelCI's text over midnight, hand-made", kernelci, laid_over=_BOTH),
        Origin("other-origins/kernelci-two-loaders.txt", "the same with SPL, hand-made", kernelci, laid_over=_BOTH),
    ),
    "watch": (
        Origin("watch/boot.rec.xz", "a q35 with Debian 12's kernel", watched, laid_over=_BOTH),
        Origin("watch/debian-13.rec.xz", "a q35 with Debian 13's kernel", watched, laid_over=_BOTH),
    ),
    "loader-console": (
        Origin("consoles/loaders-alone.log", "U-Boot with its own stamps, hand-made", loaders),
        Origin("other-origins/visionfive-loaders.log", "SPL, OpenSBI and a stamped U-Boot, hand-made", loaders),
        Origin("other-origins/uboot-stamped-as-printk.log", "a Broadcom SoC's U-Boot, by quoted figures", loaders),
    ),
}  # fmt: skip
