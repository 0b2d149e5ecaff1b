"""Which importer a file is for: every real sample is recognised as what it is, and nothing else is."""

import io
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.importers.importer import Options
from bootlab.importers.reading.source import FormatError, Head, Source
from bootlab.importers.registry import IMPORTERS, find_importer, read_recording, require_importer

DATA = Path(__file__).parent.parent / "data" / "importers"
SAMPLES = {
    "dmesg-raw.log": "dmesg",
    "dmesg-raw-no-time.log": "dmesg",
    "dmesg-wrapped.log": "dmesg",
    "dmesg-J.json.xz": "dmesg",
    "dmesg-H.txt.xz": "dmesg",
    "serial-initcall_debug.log": "dmesg",
    "serial-no-time.log": "dmesg",
    "grabserial-match.log": "grabserial",
    "grabserial-systime.log": "grabserial",
    "uboot/qemu-x86-console.log": "bootstage",
    "uboot/qemu-x86.stash": "bootstage",
    "uboot/qemu-x86_64-console.log": "bootstage",
    "uboot/qemu-x86_64.stash": "bootstage",
    "uboot/orangepi-pc-console.log": "dmesg",
    "watch/boot.rec.xz": "watch",
    "lab/lava.yaml": "lava",
    "traces/pm-graph.txt": "ftrace",
    "traces/trace-cmd-report.txt": "ftrace",
    "traces/perf-script.txt": "ftrace",
    "firmware-times/fpdt.txt": "fpdt",
    "firmware-times/xbl-console.log": "xbl",
    "firmware-times/slim-bootloader.txt": "slim-bootloader",
    "firmware-times/slim-bootloader-microseconds.txt": "slim-bootloader",
    "firmware-times/ti-boot-report.txt": "ti-boot-report",
    "firmware-times/ti-boot-report-older.txt": "ti-boot-report",
    "firmware-times/ti-sbl.txt": "ti-sbl",
    "firmware-times/ti-sbl-unnamed-time.txt": "ti-sbl",
    "comma/boot-time.txt": "comma-boot-time",
    "comma/boot-time-early.txt": "comma-boot-time",
    "vmm/qemu-trace.log": "qemu-trace",
    "vmm/qemu-trace-simple.txt": "qemu-trace",
    "vmm/qemu-10.0.strace": "vmm-strace",
    "vmm/firecracker-1.15.strace": "vmm-strace",
    "vmm/qemu-boot-time.txt": "qemu-boot-time",
    "consoles/loaders-alone.log": "loader-console",
    "journal/boot.json": "journal",
    "journal/boot.export": "journal",
    "journal/boot-verbose.txt": "journal",
    "cloud-init/cloud-init.log": "cloud-init",
    "cloud-init/show.txt": "cloud-init",
    "cloud-init/blame.txt": "cloud-init",
    "cloud-init/dump.json": "cloud-init",
    "lab/kernelci.txt": "lava",
    "kernel-logs/upstart-3.2.log": "dmesg",
    "kernel-logs/syslog-japanese.log": "dmesg",
    "consoles/uboot-own-stamps.log": "dmesg",
    "series/hyperfine.json": "series",
    "tslog/kernel-head.tslog": "tslog",
    "tslog/kernel-tail.tslog": "tslog",
    "tslog/processes.tslog": "tslog",
    "tslog/waits.tslog": "tslog",
    "freebsd/boottrace.txt": "boottrace",
    "firecracker/boot-timer.log": "firecracker",
    "firecracker/metrics.json": "firecracker-metrics",
    "firecracker/test-metrics.json": "series",
    "coreboot/cbmem-t.txt": "cbmem",
    "coreboot/cbmem-T.txt": "cbmem",
    "coreboot/timestamps.bin": "cbmem",
    "ec2/three-runs.txt": "ec2-boot-bench",
    "android/logcat-events.txt": "android",
    "android/getprop.txt": "android",
    "android/kpi_values.txt": "boot-kpi",
    "marks/early-marks.log": "kernel-marks",
    "series/red-hat.json": "series",
    "series/two-humps.csv": "series",
    "series/names.csv": "series",
    "debian-13-dracut/dmesg.txt.xz": "dmesg",
    "debian-13-dracut/systemctl-show.txt": "systemd-show",
    "debian-13-dracut/systemd-analyze-blame.txt": "systemd-analyze",
    "debian-13-dracut/systemd-analyze-plot.svg.xz": "systemd-svg",
    "debian-13-dracut/systemd-analyze-plot.json.xz": "systemd-plot",
    "debian-13-dracut/systemd-analyze-plot-table.txt.xz": "systemd-plot",
    "debian-13-dracut/systemd-analyze-time.txt": "systemd-analyze",
    "debian-13/dmesg.txt.xz": "dmesg",
    "debian-13/dmesg-iso.txt.xz": "dmesg",
    "debian-13/journal.txt.xz": "dmesg",
    "debian-13/journal-monotonic.txt.xz": "dmesg",
    "debian-13/grabserial.log.xz": "grabserial",
    "debian-13/systemd-analyze-time.txt": "systemd-analyze",
    "debian-13/systemd-analyze-blame.txt": "systemd-analyze",
    "debian-13/systemd-analyze-critical-chain.txt": "systemd-analyze",
    "debian-13/systemd-analyze-plot.json": "systemd-plot",
    "debian-13/systemd-analyze-plot.svg.xz": "systemd-svg",
    "debian-13/systemd-analyze-dump.txt.xz": "systemd-dump",
    "debian-13/systemctl-show.txt": "systemd-show",
    "debian-13/ftrace-events.txt.xz": "ftrace",
    "debian-13/ftrace-graph.txt.xz": "ftrace",
    "debian-13/bootchart.tgz": "bootchart",
    "debian-13/systemd-bootchart.svg.xz": "bootchart-svg",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_real_file_is_recognised_and_read(name: str) -> None:
    with (DATA / name).open("rb") as stream:
        recording = read_recording(Source(name, stream), Options())
    assert recording.format == SAMPLES[name]


def test_names_are_unique_and_titles_say_something() -> None:
    assert len({one.name for one in IMPORTERS}) == len(IMPORTERS)
    assert all(len(one.title) > 20 for one in IMPORTERS)


@pytest.mark.parametrize("data", [b"\x7fELF" + bytes(100), b"hello\nworld\n", b"{}", b"\xff\xfe" * 50, b"\n" * 1000])
def test_what_is_no_recording_is_refused_by_name(data: bytes) -> None:
    assert find_importer(Head("x", data)) is None
    with pytest.raises(FormatError, match=r"^x: none of the \d+ formats; it begins "):
        read_recording(Source("x", io.BytesIO(data)), Options())


PERF_SAMPLES = [
    "ls  6352  7928.404477:     250000 cpu-clock:pppH: \n\t 150af handle+0x2f (/lib/ld.so.2)\n",
    "      python 27504 [001]  8583.355282:     250000 cpu-clock:pppH:      7f0b type_is_gc+0x7 (/lib/libpython.so)\n",
    "Web Content 12/34 [000] 1.000001:  1 cycles:u:  55d0 [unknown] (/bin/x)\n",
]
"""perf 6.1, without and with call stacks and processors."""


@pytest.mark.parametrize("text", PERF_SAMPLES)
def test_samples_of_perf_are_named_as_such(text: str) -> None:
    with pytest.raises(FormatError, match="^x: samples of perf") as caught:
        read_recording(Source("x", io.BytesIO(text.encode())), Options())
    assert caught.value.hint is not None and "perf record -a -e 'sched:*'" in caught.value.hint


def test_an_empty_file_is_said_to_be_empty() -> None:
    with pytest.raises(FormatError, match="^x: empty$"):
        read_recording(Source("x", io.BytesIO(b"")), Options())


def test_an_unknown_format_lists_those_there_are() -> None:
    with pytest.raises(InputError, match="--format frob") as caught:
        require_importer("frob")
    assert caught.value.hint is not None and "dmesg" in caught.value.hint


@pytest.mark.parametrize("name", [one.name for one in IMPORTERS])
def test_a_file_of_another_format_is_refused_with_what_was_expected(name: str) -> None:
    with pytest.raises(FormatError, match=r"^x(:\d+)?: "):
        read_recording(Source("x", io.BytesIO(b"nothing of the kind\n" * 3)), Options(), name)
