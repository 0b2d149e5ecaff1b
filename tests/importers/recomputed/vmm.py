"""Virtual machine monitors, and what hosts time of their guests, worked out again."""

import json
import re
from datetime import UTC, datetime

from tests.importers.recomputed.figures import MS, US, Figures, Origin, Part, S, between, figures, following, ns


def _stamp_ns(text: str) -> int:
    whole, _, part = text.partition(".")
    return int(datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp()) * S + int(part.ljust(9, "0"))


def firecracker(text: str) -> Figures:
    """Rows by their stamps since the first; event_start to event_end; the boot timer counts back from its row.

    A call of the API ends with the row that says how long it took.
    """
    rows = [(_stamp_ns(at), what) for at, what in re.findall(r"(?m)^(\d{4}-\S+T\S+) \[[^]]+\] (.*)$", text)]
    zero = rows[0][0]
    spans: list[Part] = []
    begun: dict[str, int] = {}
    boots = [int(us) * US for us in re.findall(r"Guest-boot-time = +(\d+) us", text)]
    cpus = [int(us) * US for us in re.findall(r"Guest-boot-time = .*?, +(\d+) CPU us", text)]
    for t_ns, what in rows:
        if what.startswith("event_start: "):
            begun[what.partition(": ")[2]] = t_ns
        elif what.startswith("event_end: "):
            spans.append((what.partition(": ")[2], begun[what.partition(": ")[2]] - zero, t_ns - zero))
        elif (timer := re.match(r"Guest-boot-time = +(\d+) us", what)) is not None:
            spans.append(("InstanceStart to the guest's signal", t_ns - zero - int(timer[1]) * US, t_ns - zero))
        elif (call := re.match(r"Total previous API call duration: (\d+) us", what)) is not None:
            asked = re.findall(r'received a (\w+) request on "([^"]+)"', text[: text.index(what)])[-1]
            spans.append((f"{asked[0].upper()} {asked[1]}", t_ns - zero - int(call[1]) * US, t_ns - zero))
    series = [("guest boot time", float(one)) for one in boots] + [
        ("guest boot time on a CPU", float(one)) for one in cpus
    ]
    return figures(
        spans=spans, moments=[t_ns - zero for t_ns, _ in rows], series=series if len(boots) > 1 else [],
    )  # fmt: skip


def firecracker_metrics(text: str) -> Figures:
    """Of the flushes that are whole, the last figure above zero of each kind."""
    last: dict[str, int] = {}
    for row in text.splitlines():
        try:
            flush = json.loads(row)
        except ValueError:
            continue
        start = {key: value for key, value in flush["api_server"].items() if key.startswith("process_startup_time")}
        for name, us in [*start.items(), *flush["latencies_us"].items()]:
            if us:
                last[name.removesuffix("_us").replace("_cpu_us", "_cpu")] = us * US
    return figures(lengths=last.items())


def ec2(text: str) -> Figures:
    """Four steps a run, one after the other; 120 s is a step that was never seen to end, and so is the one behind."""
    names = ("RunInstances API call", "pending to running", "running to port closed", "port closed to port open")
    took = [ns(s) for s in re.findall(r"took: ([\d.]+) s", text)]
    runs = [took[at : at + 4] for at in range(0, len(took), 4)]
    spans = following([(name, sum(runs[0][:index])) for index, name in enumerate(names)], sum(runs[0]))
    series = []
    for index, name in enumerate(names):
        series += [(name, float(run[index])) for run in runs if not (index > 1 and 120 * S in run[2 : index + 1])]
    series += [("RunInstances to port open", float(sum(run))) for run in runs if 120 * S not in run[2:]]
    return figures(spans=spans, phases=spans, series=series if len(runs) > 1 else [])


def qemu_boot_time(text: str) -> Figures:
    """Marks in ms since QEMU's start, a machine after the other; a part of the first is named by the marks around it.

    Behind `Avg` stand no machines.
    """
    machines = re.split(r"(?m)^\d+\) pid .*$", text.split("\nAvg\n")[0])
    found = [re.findall(r"(?m)^ (\w+): ([\d.]+)", one) for one in machines]
    each = [[(name, ns(ms, MS)) for name, ms in one] for one in found if one]
    marks = each[0]
    names = {"qemu_init_end": "QEMU", "fw_start": "to the firmware", "fw_do_boot": "firmware",
             "linux_start_boot": "loading the kernel", "linux_start_kernel": "the kernel's own loader",
             "linux_start_user": "kernel"}  # fmt: skip
    starts = [0, *(at for _, at in marks)]
    return figures(
        moments=[at for _, at in marks],
        phases=[(names[name], start, at) for (name, at), start in zip(marks, starts, strict=False)],
        series=[(name, float(at)) for one in each for name, at in one] if len(each) > 1 else [],
    )


def _of_events(events: list[tuple[int, str, str]], begins: dict[str, str]) -> Figures:
    # Events (ns, name, arguments) by their stamps; requests by the word of their arguments that names them.
    zero = min(t_ns for t_ns, _, _ in events)
    spans: list[Part] = []
    begun: dict[tuple[str, str], int] = {}
    states: list[tuple[str, int]] = []
    ordered = sorted(((t_ns - zero, name, rest) for t_ns, name, rest in events), key=lambda one: one[0])
    for t_ns, name, rest in ordered:
        for kind, ends in (("virtio-blk", "virtio_blk_req_complete"), ("DMA", "dma_complete")):
            found = re.search(r"\b(?:req|dbs)[ =](0x\w+)", rest)
            if found is None:
                continue
            if begins.get(name, "").startswith(kind):
                begun[kind, found[1]] = t_ns
                begun[kind, found[1] + begins[name]] = t_ns
            elif name == ends and (kind, found[1]) in begun:
                label = next(key[1].removeprefix(found[1]) for key in begun if key[1].startswith(found[1] + kind))
                spans.append((label, begun.pop((kind, found[1])), t_ns))
                del begun[kind, found[1] + label]
        if name == "runstate_set":
            old, new = re.findall(r"(?:\(|_str=)(\w+)", rest)
            states = states or [(old, 0)]
            states.append((new, t_ns))
    spans += between((name, t_ns) for t_ns, name, _ in ordered)
    return figures(spans=spans, moments=[t_ns for t_ns, _, _ in ordered], phases=following(states, ordered[-1][0]))


_BEGINS = {
    "virtio_blk_handle_read": "virtio-blk read",
    "virtio_blk_handle_write": "virtio-blk write",
    "dma_blk_io": "DMA",
}


def qemu_log(text: str) -> Figures:
    """PID@SECONDS:EVENT ARGUMENTS, by the host's time of day."""
    found = re.findall(r"(?m)^\d+@(\d+\.\d{6}):(\w+) (.*)$", text)
    return _of_events([(ns(at), name, rest) for at, name, rest in found], _BEGINS)


def qemu_simple(text: str) -> Figures:
    """EVENT MICROSECONDS pid=N ARGUMENTS: each since the one above."""
    events, at = [], 0
    for name, us, rest in re.findall(r"(?m)^(\w+) (-?[\d.]+) (pid=.*)$", text):
        at += ns(us, US)
        events.append((at, name, rest))
    return _of_events(events, _BEGINS)


def strace(text: str) -> Figures:
    """Each ioctl of KVM from its row's stamp, as long as strace says; the phases cut at KVM_CREATE_VM and KVM_RUN."""
    rows = [(ns(at), name, ns(took)) for at, name, took in
            re.findall(r"(?m)^\d+ +([\d.]+) ioctl\(.*?, (KVM_\w+).*<([\d.]+)>$", text)]  # fmt: skip
    zero = min(ns(at) for at in re.findall(r"(?m)^\d+ +([\d.]+) ", text))
    spans = [(name, at - zero, at - zero + took) for at, name, took in rows]
    run = next(start for name, start, _ in spans if name == "KVM_RUN")
    made = [(start, end) for name, start, end in spans if name == "KVM_CREATE_VM" and start <= run][-1]
    end = max(end for _, _, end in spans)
    cuts = [("VMM start", 0, made[0]), ("KVM_CREATE_VM", *made), ("VM creation", made[1], run), ("guest", run, end)]
    return figures(spans=spans, phases=cuts)


def cloud_hypervisor_events(text: str) -> Figures:
    """Objects of a stamp in two numbers, a source, an event, and the id that some have; a phase is named by its end."""
    found = re.findall(
        r'"secs": (\d+),\s+"nanos": (\d+)\s+\},\s+"source": "([^"]+)",\s+"event": "([^"]+)",\s+'
        r'"properties": (?:null|\{[^}]*?"id": "([^"]+)"|\{)',
        text,
    )
    marks = sorted((int(s) * S + int(rest), " ".join(filter(None, words))) for s, rest, *words in found)
    named = [(name, t_ns) for t_ns, name in marks]
    return figures(moments=[t_ns for t_ns, _ in marks], phases=between(named))


ORIGINS = {
    "firecracker": (
        Origin("firecracker/boot-timer.log", "Firecracker 1.12.1", firecracker),
        Origin("other-origins/firecracker-1.6.log", "Firecracker 1.6.0's form, hand-made", firecracker),
        Origin("other-origins/firecracker-1.2.log", "Firecracker 1.2.0, by quoted rows", firecracker),
        Origin("other-origins/firecracker-1.8.log", "Firecracker 1.8.0, by quoted rows", firecracker),
    ),
    "cloud-hypervisor-events": (
        Origin("vmm/cloud-hypervisor-53.0.events", "Cloud Hypervisor 53.0", cloud_hypervisor_events),
        Origin("other-origins/cloud-hypervisor.events", "an older one, by quoted events", cloud_hypervisor_events),
    ),
    "vmm-strace": (
        Origin("vmm/qemu-10.0.strace", "QEMU 10.0.2 under strace 6.1", strace),
        Origin("vmm/firecracker-1.15.strace", "Firecracker 1.15.1 under strace 6.1", strace),
    ),
    "firecracker-metrics": (
        Origin("firecracker/metrics.json", "Firecracker 1.12, hand-made", firecracker_metrics),
        Origin("other-origins/firecracker-1.0-metrics.json", "Firecracker 1.0, hand-made", firecracker_metrics),
    ),
    "ec2-boot-bench": (
        Origin("ec2/three-runs.txt", "three runs, hand-made", ec2),
        Origin("other-origins/ec2-one-run.txt", "one run of an image of its own, hand-made", ec2),
        Origin("other-origins/ec2-published.txt", "its author's c5.xlarge, by quoted figures", ec2),
    ),
    "qemu-boot-time": (
        Origin("vmm/qemu-boot-time.txt", "perf script's five marks, hand-made", qemu_boot_time),
        Origin("other-origins/qemu-boot-time-six-marks.txt", "a guest with all six marks, hand-made", qemu_boot_time),
        Origin("other-origins/qemu-boot-time-published.txt", "its author's guests, by quoted figures", qemu_boot_time),
    ),
    "qemu-trace": (
        Origin("vmm/qemu-trace.log", "QEMU 10.0.2 with -msg timestamp=on", qemu_log),
        Origin("other-origins/qemu-trace-arm64.log", "QEMU 10.0.2's arm64 board with U-Boot and a disk", qemu_log),
        Origin("vmm/qemu-trace-simple.txt", "simpletrace.py of the backend `simple`, hand-made", qemu_simple),
    ),
}  # fmt: skip
