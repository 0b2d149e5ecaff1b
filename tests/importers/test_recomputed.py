"""Each format's figures worked out again, by a line that knows nothing of our parsers, on inputs of two origins.

The first is a sample of tests/data/importers; the second stands here, in the form that another machine or another
release of the tool prints, as its makers and users publish it. Formats that have samples of several origins have both
there: those of systemd, ftrace, U-Boot, TSLOG, and what tests/importers/firmware and vmm hold by their own columns.
"""

import gzip
import lzma
import re
from collections.abc import Callable

import pytest

from bootlab.timeline.recording import Recording
from tests.importers.samples import DATA, recording_of

MS, US = 1_000_000, 1_000
Figures = Callable[[Recording], object]
Again = Callable[[str], object]


def event_times(one: Recording) -> list[int]:
    return sorted(event.t_ns for event in one.timeline.events)


def steps(one: Recording) -> list[int]:
    return sorted(span.duration_ns for span in one.timeline.spans)


def phase_ends(one: Recording) -> list[int]:
    return [phase.end_ns for phase in one.phases]


def lengths(one: Recording) -> list[int]:
    return sorted(length.took_ns for length in one.lengths)


def longest(one: Recording) -> list[int]:
    return sorted([*steps(one), *lengths(one)])[-1:]


def figures(pattern: str, unit_ns: float, text: str) -> list[int]:
    """Return what the pattern's group is in each line, in ns, sorted."""
    return sorted(round(float(found.replace(",", "")) * unit_ns) for found in re.findall(f"(?m){pattern}", text))


def first_of_each_marker(text: str) -> list[int]:
    """Return the numbers of Android's markers, which come again where the framework restarts."""
    markers = re.findall(r"((?:boot_progress|wm_boot)_\w+): (\d+)$", text, re.MULTILINE)
    return sorted(int(ms) * MS for ms in dict(reversed(markers)).values())


def sums(values: list[int]) -> list[int]:
    return [sum(values[: count + 1]) for count in range(len(values))]


def initcalls(text: str) -> tuple[int, list[int]]:
    """Return how many initcalls returned, and the lengths of the five longest, by the stamps of their two lines."""
    begun: dict[str, int] = {}
    took = []
    for us, what, name in re.findall(r"(?m)^.*?\[ *(\d+\.\d{6})\] (calling|initcall) +([^\s+]+)\+.*$", text):
        t_us = round(float(us) * 1e6)
        if what == "calling":
            begun.setdefault(name, t_us)
        elif name in begun:
            took.append((t_us - begun.pop(name)) * US)
    return len(took), sorted(took)[-5:]


def our_initcalls(one: Recording) -> tuple[int, list[int]]:
    took = sorted(span.duration_ns for span in one.timeline.spans if span.source == "initcall")
    return len(took), took[-5:]


# Name, our figures, the same again; the sample; the other origin's text.
CASES: dict[str, tuple[Figures, Again, str, str]] = {
    "dmesg": (
        our_initcalls, initcalls, "serial-initcall_debug.log",
        "[    0.000000] Booting Linux on physical CPU 0x0\n[    0.000000] Linux version 4.14.98 (oe@yocto) #1 PREEMPT\n"
        "[    0.080113] calling  imx_soc_device_init+0x0/0x2a0 @ 1\n"
        "[    0.084027] initcall imx_soc_device_init+0x0/0x2a0 returned 0 after 0 usecs\n"
        "[    0.084042] calling  customize_machine+0x0/0x38 @ 1\n"
        "[    0.160905] initcall customize_machine+0x0/0x38 returned 0 after 75122 usecs\n"
        "[    2.100003] Freeing unused kernel memory: 1024K\n[    2.200000] systemd[1]: System time before\n",
    ),
    "fpdt": (
        phase_ends, lambda text: figures(r"^/sys\S*/boot/\w+_ns:(\d+)$", 1, text), "firmware-times/fpdt.txt",
        "/sys/firmware/acpi/fpdt/boot/firmware_start_ns:94115000\n"
        "/sys/firmware/acpi/fpdt/boot/bootloader_load_ns:11310214000\n"
        "/sys/firmware/acpi/fpdt/boot/bootloader_launch_ns:11310399000\n"
        "/sys/firmware/acpi/fpdt/boot/exitbootservice_start_ns:14101777000\n"
        "/sys/firmware/acpi/fpdt/boot/exitbootservice_end_ns:14102003000\n",
    ),
    "xbl": (
        lambda one: sorted([*steps(one), *lengths(one)]), lambda text: figures(r"^D - +(\d+) - ", US, text),
        "firmware-times/xbl-console.log",
        "Format: Log Type - Time(microsec) - Message - Optional Info\n"
        "Log Type: B - Since Boot(Power On Reset),  D - Delta,  S - Statistic\n"
        "S - QC_IMAGE_VERSION_STRING=BOOT.XF.3.2\nB -      4412 - PBL, Start\nB -     80120 - PBL, End\n"
        "B -    140121 - SBL1, Start\nB -    190002 - usb: hs_phy_nondrive_start\nD -     11346 - pm_device_init\n"
        "D -       153 - boot_flash_init\nB -    690000 - SBL1, End\n",
    ),
    "boottrace": (
        event_times, lambda text: figures(r"^ +\d+ +(\d+) +\d+ \w", MS, text), "freebsd/boottrace.txt",
        "\n\nCPU      msecs      delta process                  event"
        "                                      PID CPUtime IBlks OBlks\n"
        "  0        911          0 kernel                   sysinit 0x2100001                  "
        "          0    0.00     0     0\n"
        "  0        999         88 kernel                   sysinit 0x2110000                  "
        "          0    0.00     0     0\n"
        "  5       5200       4201 init                     multi-user start                   "
        "          1    0.01    10     0\n"
        "Total measured time: 4289 msecs\n",
    ),
    "cbmem": (
        event_times, lambda text: figures(r"^ +\d+:.*?([\d,]+) \([\d,]+\)$", US, text), "coreboot/cbmem-t.txt",
        "4 entries total:\n\n   0:1st timestamp                                     12,055 (0)\n"
        "   1:start of romstage                                 12,101 (46)\n"
        "   2:before RAM initialization                         40,110 (28,009)\n"
        "   3:after RAM initialization                          1,940,877 (1,900,767)\n"
        "  10:start of ramstage                                 1,950,001 (9,124)\n\nTotal Time: 1,937,946\n",
    ),
    "ec2-boot-bench": (
        phase_ends, lambda text: sums([round(float(s) * 1e9) for s in re.findall(r"took: ([\d.]+) s", text)[:4]]),
        "ec2/three-runs.txt",
        "RunInstances API call took: 2.014225 s\nMoving from pending to running took: 10.502113 s\n"
        "Moving from running to port closed took: 8.120007 s\nMoving from port closed to port open took: 1.015881 s\n",
    ),
    "qemu-boot-time": (
        event_times, lambda text: figures(r"^ \w+: ([\d.]+)", MS, text), "vmm/qemu-boot-time.txt",
        "in trace_begin\nin trace_end\nTrace qemu-system-x86\n1) pid 4417\n qemu_init_end: 52.812\n"
        " fw_start: 53.011 (+0.199)\n fw_do_boot: 54.7 (+1.689)\n linux_start_boot: 58.012 (+3.312)\n"
        " linux_start_kernel: 58.4 (+0.388)\n linux_start_user: 120.25 (+61.85)\n",
    ),
    "cloud-init": (
        lengths, lambda text: figures(r"^ +([\d.]+)s \(", 1e9, text), "cloud-init/blame.txt",
        "-- Boot Record 01 --\n     12.49500s (modules-config/config-apt-configure)\n"
        "     02.01700s (init-network/config-ssh)\n     00.25800s (init-local/search-Ec2Local)\n",
    ),
    "boot-kpi": (
        event_times, lambda text: figures(r"^[MD] - (?!.* Time -).*?:([\d.]+) seconds", 1e9, text),
        "android/kpi_values.txt",
        "M - APPSBL Start -                       :2.904 seconds\n"
        "M - APPSBL End -                         :4.018 seconds\n"
        "M - DRIVER MSM-DRM Init                  :5.533 seconds\n",
    ),
    "qemu-trace": (
        lambda one: [t_ns - event_times(one)[0] for t_ns in event_times(one)],
        lambda text: (lambda us: [(one - us[0]) * US for one in us])(
            sorted(int(s) * 1_000_000 + int(u) for s, u in re.findall(r"(?m)^\d+@(\d+)\.(\d{6}):", text))
        ),
        "vmm/qemu-trace.log",
        "719585@1608130130.441188:memory_region_ops_read cpu 0 mr 0x562fdfbb3820 addr 0x3cc value 0x67 size 1\n"
        "719585@1608130130.441190:memory_region_ops_write cpu 0 mr 0x562fdfbd2f00 addr 0x3d4 value 0x70e size 2\n"
        "719586@1608130131.000002:kvm_run_exit cpu_index 0, reason 2\n",
    ),
    "firecracker": (
        longest,
        lambda text: figures(r"Guest-boot-time = +(\d+) us", US, text)[-1:], "firecracker/boot-timer.log",
        "2024-02-20T10:11:12.000100000 [bench:main] Running Firecracker v1.6.0\n"
        "2024-02-20T10:11:12.040000000 [bench:fc_vcpu 0] Guest-boot-time =  91427 us 91 ms,  79001 CPU us 79 CPU ms\n",
    ),
    "android": (
        event_times, first_of_each_marker, "android/logcat-events.txt",
        "11-23 09:00:01.001   501   501 I boot_progress_start: 5121\n"
        "11-23 09:00:02.101   501   501 I boot_progress_preload_start: 6020\n"
        "11-23 09:00:04.000   990   990 I boot_progress_enable_screen: 17744\n",
    ),
    "systemd-analyze": (
        lengths, lambda text: figures(r"^ *(\d+)ms ", MS, text) + figures(r"^ *(\d+\.\d+)s ", 1e9, text),
        "debian-13/systemd-analyze-blame.txt",
        "   612ms dev-mmcblk0p2.device\n   703ms keyboard-setup.service\n"
        " 1.804s dhcpcd.service\n15.102s apt-daily.service\n",
    ),
    "lava": (
        lambda one: len(one.timeline.events) + len(one.text),
        lambda text: len([row for row in text.splitlines() if row.strip()]), "lab/kernelci.txt",
        "08:12:44.000100  U-Boot SPL 2023.07 (Jul 11 2023 - 15:00:00 +0000)\n"
        "08:12:44.500200  U-Boot 2023.07 (Jul 11 2023 - 15:00:00 +0000)\n"
        "08:12:47.100000  Starting kernel ...\n08:12:47.200000  [    0.000000] Linux version 6.4.3 (KernelCI@x)\n"
        "08:12:47.900000  [    0.700000] Run /init as init process\n",
    ),
    "loader-console": (
        lambda one: len(one.text) + len(one.timeline.events),
        lambda text: len([row for row in text.splitlines() if row.strip()]), "consoles/loaders-alone.log",
        "U-Boot SPL 2022.10 (Oct 03 2022 - 19:25:32 +0000)\nDDR version: dc2e84f0.\nTrying to boot from SPI\n\n"
        "OpenSBI v1.2\nPlatform Name             : StarFive VisionFive V2\n\nU-Boot 2022.10\nCPU:   rv64imacu\n",
    ),
    "series": (
        lambda one: sorted(value for series in one.series for value in series.values),
        lambda text: sorted(
            float(value) * 1e9 for row in re.findall(r'"times": ?\[([^]]*)\]', text) for value in row.split(",")
        ),
        "series/hyperfine.json",
        '{"results": [{"command": "boot a", "mean": 1.5, "times": [1.25, 1.75]},'
        ' {"command": "boot b", "mean": 2.0, "times": [2.0, 1.5, 2.5]}]}',
    ),
}  # fmt: skip


def text_of(data: bytes, name: str) -> str:
    """Return the text of a sample, unpacked."""
    data = lzma.decompress(data) if name.endswith(".xz") else gzip.decompress(data) if name.endswith(".gz") else data
    return data.decode(errors="replace").replace("\r", "")


@pytest.mark.parametrize("name", CASES)
def test_two_origins_give_what_another_way_of_counting_gives(name: str) -> None:
    ours, again, sample, other = CASES[name]
    for data, label in (((DATA / sample).read_bytes(), sample), (other.encode(), "the other origin")):
        one = recording_of(data, label)
        assert one.format == name, label
        expected = again(text_of(data, label))
        assert expected and ours(one) == expected, label
