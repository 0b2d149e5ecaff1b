"""Firmware and boot loaders, worked out again."""

import re

from tests.importers.recomputed.figures import MS, US, Figures, Origin, Part, Took, between, figures, following, ns


def fpdt(text: str) -> Figures:
    """/sys/firmware/acpi/fpdt: five moments, each ends a part; a firmware_start behind the others bounds none."""
    at = {name: int(value) for name, value in re.findall(r"/boot/(\w+)_ns:(\d+)", text)}
    if at["firmware_start"] > at["exitbootservice_start"]:
        del at["firmware_start"]
    ends = {"firmware_start": "before the firmware", "bootloader_load": "firmware",
            "bootloader_launch": "loading the boot loader", "exitbootservice_start": "boot loader",
            "exitbootservice_end": "leaving the boot services"}  # fmt: skip
    marks = [at[name] for name in ends if name in at]
    parts = [part for name, part in ends.items() if name in at]
    resumes = [(name, int(value)) for name, value in re.findall(r"/resume/(resume_\w+)_ns:(\d+)", text)]
    phases = list(zip(parts, [0, *marks], marks, strict=False))
    return figures(moments=at.values(), lengths=resumes, phases=phases)


def xbl(text: str) -> Figures:
    """B lines are moments, unless a figure of something else goes back; D lines are lengths of what had a Start.

    What has an End without being an image is as long as that says.
    """
    moments: list[tuple[str, int]] = []
    spans, lengths = [], []
    for kind, us, what in re.findall(r"(?m)^ *([BD]|S(?=.*, End)) - +(\d+) - (.+?)[ -]*$", text):
        name = what.split(",")[0]
        if kind == "D":
            begun = name.replace("Image Loaded", "Image Load")
            start = next((at for other, at in moments if other == f"{begun}, Start"), None)
            if start is None:
                lengths.append((name, int(us) * US))
            else:
                spans.append((name, start, start + int(us) * US))
        elif "," in what or not moments or int(us) * US >= moments[-1][1]:
            moments.append((what, int(us) * US))
            if name not in ("PBL", "SBL1") and what.endswith(", End"):
                spans.append((name, dict(moments)[f"{name}, Start"], int(us) * US))
    at = dict(moments)
    ends = {"PBL": at["PBL, End"], "SBL1": at["SBL1, End"]}
    began = at.get("PBL, Start", 0)
    phases = [("before PBL", 0, began)] * bool(began) + [("PBL", began, ends["PBL"])]
    if at["SBL1, Start"] > ends["PBL"]:
        phases.append(("before SBL1", ends["PBL"], at["SBL1, Start"]))
    phases.append(("SBL1", max(at["SBL1, Start"], ends["PBL"]), ends["SBL1"]))
    return figures(spans=spans, moments=[t for _, t in moments], lengths=lengths, phases=phases)


_COREBOOT = {11: "bootblock", 1: "romstage", 100: "postcar", 10: "ramstage", 90: "payload", 1101: "kernel"}


def cbmem(text: str) -> Figures:
    """cbmem -t: number, name, us since the counter's zero. A stage lasts until the next begins."""
    rows = [(int(number), name.strip(), ns(us, US))
            for number, name, us in re.findall(r"(?m)^ *(\d+):(.*?) +([\d,]+)(?: \([\d,]+\))?$", text)]  # fmt: skip
    stages = [(_COREBOOT[number], at) for number, _, at in rows if number in _COREBOOT]
    before = [("before the first stage", rows[0][2])] if stages[0][1] != rows[0][2] else []
    return figures(
        spans=between((name, at) for _, name, at in rows),
        moments=[at for _, _, at in rows],
        phases=following([*before, *stages], rows[-1][2]),
    )


def bootstage(text: str) -> Figures:
    """U-Boot's report: the column Mark, and below it the accumulated times."""
    report = text.split("Timer summary in microseconds")[1]
    rows = re.findall(r"(?m)^ *([\d,]+) +[\d,]+  (\S.*?) *$", report)
    moments = [(name, ns(us, US)) for us, name in rows]
    sums = re.findall(r"(?m)^ +([\d,]+)  (\S+) *$", report.split("Accumulated time:")[1])
    return figures(
        spans=between(moments),
        moments=[at for _, at in moments],
        lengths=[(name, ns(us, US)) for us, name in sums],
        phases=[("U-Boot", 0, max(at for _, at in moments))],
    )


def slim_bootloader(text: str) -> Figures:
    """Columns Time and Delta; a stage is the first digit of the row's number, the payload is the OS loader."""
    unit = US if "perf -d" in text else MS
    loader, _, engine = text.partition("CSME Performance Info")
    row = r"(?m)^ *([0-9A-Fa-f]{1,4}) \| +(\d+) ms \| +(\d+) ms \| (.+?) *$"
    rows = [
        (number, int(time) * unit, int(delta) * unit, what) for number, time, delta, what in re.findall(row, loader)
    ]
    names = {"10": "Stage 1A", "20": "Stage 1B", "30": "Stage 2", "31": "Stage 2", "40": "OS loader"}
    phases: list[Part] = []
    for number, time, _, _ in rows:
        name = names[number[:2].upper()]
        if phases and phases[-1][0] == name:
            phases[-1] = (name, phases[-1][1], time)
        else:
            phases.append((name, phases[-1][2] if phases else 0, time))
    return figures(
        spans=[(what, time - delta, time) for _, time, delta, what in rows],
        moments=[time for _, time, _, _ in rows],
        lengths=[(what, int(delta) * MS) for _, _, delta, what in re.findall(row, engine) if int(delta)],
        phases=phases,
    )


def ti_boot_report(text: str) -> Figures:
    """The summary's four times, one after the other, and the records' `+` column."""
    names = ("SPL", "U-Boot", "kernel handoff", "kernel")
    summary = [int(ms) * MS for ms in re.findall(r"(?mi)^(?:SPL|U-Boot|Kernel handoff|Kernel) time\s*: (\d+) ms", text)]
    at, phases = 0, []
    for name, took in zip(names, summary, strict=True):
        phases.append((name, at, at + took))
        at += took
    spans, moments = [], []
    for name, ms, since in re.findall(r"(?m)^(\w+) += +(\d+) ms \(\+ *(\d+) ms\)", text):
        spans.append((name, (int(ms) - int(since)) * MS, int(ms) * MS))
        moments.append(int(ms) * MS)
    return figures(spans=spans, moments=moments, phases=phases)


def ti_sbl(text: str) -> Figures:
    """Steps of each loader; the first one's stand on the clock where they are its total to a few microseconds."""
    loaders = text.split("Total Time Taken")
    lengths: list[Took] = []
    spans: list[Part] = []
    phases: list[Part] = []
    for number, loader in enumerate(loaders[:-1]):
        steps = [(name, int(us) * US) for name, us in re.findall(r"PROFILE\] (.*?) +: +(\d+)us", loader)]
        found = re.match(r" +: +(\d+)us", loaders[number + 1])
        assert found is not None
        total = int(found[1]) * US
        if number:
            lengths += [*steps, (f"loader {number + 1}", total)]
            continue
        phases.append(("SBL", 0, total))
        if abs(sum(took for _, took in steps) - total) > 20 * US:
            lengths += steps
            continue
        at = 0
        for name, took in steps:
            spans.append((name, at, at + took))
            at += took
    return figures(spans=spans, moments=[end for _, _, end in spans], lengths=lengths, phases=phases)


def comma(text: str) -> Figures:
    """Name, own seconds, seconds since power-on. What is below zero began early, and is as long as that is early."""
    rows = re.findall(r"(?m)^(\w+) +(-?[\d.]+) +([\d.]+) +", text)
    ends = [(name, ns(end)) for name, _, end in rows]
    kept = [(name, ns(end)) for name, took, end in rows if not took.startswith("-")]
    phases = [(name, start, end) for (name, end), start in zip(kept, [0, *(end for _, end in kept)], strict=False)]
    early = [(name, ns(took[1:])) for name, took, _ in rows if took.startswith("-")]
    return figures(moments=[end for _, end in ends], lengths=early, phases=phases)


def boot_kpi(text: str) -> Figures:
    """Markers `NAME :seconds`; what is called `Time` is a length. The parts are those of M markers, unique."""
    rows = [
        (kind, name.rstrip(" -"), ns(s)) for kind, name, s in re.findall(r"(?m)^([MD]) - (.*?) +:?([\d.]+) s", text)
    ]
    marks = sorted((at, f"{kind} - {name}") for kind, name, at in rows if not name.endswith("Time"))
    mains = [(name.removeprefix("M - "), at) for at, name in marks if name.startswith("M")]
    cuts = [("before the first marker", 0), *((f"from {name}", at) for name, at in mains[:-1])]
    return figures(
        moments=[at for at, _ in marks],
        lengths=[(f"{kind} - {name}", at) for kind, name, at in rows if name.endswith("Time")],
        phases=following(cuts, mains[-1][1]),
    )


ORIGINS = {
    "fpdt": (
        Origin("firmware-times/fpdt.txt", "Linux 6.12's sysfs files, hand-made", fpdt),
        Origin("other-origins/fpdt-slow-firmware.txt", "a laptop's figures as forums show them, hand-made", fpdt),
        Origin("other-origins/fpdt-z690.txt", "coreboot's edk2 on an MSI PRO Z690-A, by quoted figures", fpdt),
        Origin("other-origins/fpdt-wrong-scale.txt", "the same before its mend, by quoted figures", fpdt),
    ),
    "xbl": (
        Origin("firmware-times/xbl-steps-of-pbl.log", "PBL's steps, as later SoCs print them, hand-made", xbl),
        Origin("firmware-times/xbl-console.log", "BOOT.XF.1.2.3 of MSM8976's time, hand-made", xbl),
        Origin("other-origins/xbl-3.2.log", "BOOT.XF.3.2 of SDM845's time, hand-made", xbl),
        Origin("other-origins/xbl-mdm9607.log", "BOOT.BF.3.1.2 of an MDM9607, by quoted figures", xbl),
        Origin("other-origins/xbl-sa8295p.log", "BOOT.MXF.1.1 of an SA8295P, by quoted figures", xbl),
    ),
    "cbmem": (
        Origin("coreboot/cbmem-t.txt", "coreboot 25.09, hand-made", cbmem),
        Origin("other-origins/cbmem-no-bootblock.txt", "coreboot 4.x without a bootblock's stamps, hand-made", cbmem),
        Origin("other-origins/cbmem-apu2.txt", "coreboot 4.9 on a PC Engines apu2, by quoted figures", cbmem),
        Origin("other-origins/cbmem-before-reset.txt", "a Chromebook whose CSE has stamps, by quoted figures", cbmem),
    ),
    "bootstage": (
        Origin("uboot/qemu-x86_64-console.log", "Debian 12's U-Boot 2023.01 on QEMU's x86_64", bootstage),
        Origin("uboot/orangepi-pc-console.log", "U-Boot 2025.01 on an arm board", bootstage, format="bootstage"),
        Origin("uboot/qemu-x86-console.log", "Debian 12's U-Boot 2023.01 on QEMU's i386", bootstage),
    ),
    "slim-bootloader": (
        Origin("firmware-times/slim-bootloader.txt", "the first releases' columns, in ms, hand-made", slim_bootloader),
        Origin("firmware-times/slim-bootloader-microseconds.txt", "today's `perf -d`, hand-made", slim_bootloader),
        Origin("other-origins/slim-bootloader-published.txt", "its documentation, by quoted figures", slim_bootloader),
    ),
    "ti-boot-report": (
        Origin("firmware-times/ti-boot-report.txt", "an AM62x by today's boot-time-parser, hand-made", ti_boot_report),
        Origin("firmware-times/ti-boot-report-older.txt", "an AM64x by its older form, hand-made", ti_boot_report),
        Origin("other-origins/ti-boot-report-published.txt", "an AM62x EVM, by quoted figures", ti_boot_report),
    ),
    "ti-sbl": (
        Origin("firmware-times/ti-sbl.txt", "two loaders of MCU+ SDK 10.0, hand-made", ti_sbl),
        Origin("firmware-times/ti-sbl-unnamed-time.txt", "one loader of MCU+ SDK 9.2, hand-made", ti_sbl),
        Origin("other-origins/ti-sbl-published.log", "an AWR294x EVM, by quoted figures", ti_sbl),
        Origin("other-origins/ti-sbl-steps-over-total.log", "an AM64x from its eMMC, by quoted figures", ti_sbl),
    ),
    "comma-boot-time": (
        Origin("comma/boot-time.txt", "agnos-builder's script, hand-made", comma),
        Origin("comma/boot-time-early.txt", "the same of a boot in which comma began early, hand-made", comma),
        Origin("other-origins/comma-published.txt", "a comma device, by quoted figures", comma),
    ),
    "boot-kpi": (
        Origin("android/kpi_values.txt", "msm-4.14's bootkpi_reader(), hand-made", boot_kpi),
        Origin("other-origins/kpi-msm-5.4.txt", "a later kernel's markers, hand-made", boot_kpi),
        Origin("other-origins/kpi-5.15.txt", "boot_stats.c of kernels since 5.15, hand-made", boot_kpi),
    ),
}  # fmt: skip
