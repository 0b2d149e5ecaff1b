"""Every importer there is, and which one a file is for."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.importers import android, boot_series, cloud_init, comma
from bootlab.importers.bootchart import loose
from bootlab.importers.bootchart import svg as bootchart_svg
from bootlab.importers.bootchart import tarball as bootchart
from bootlab.importers.firmware import (
    boot_kpi,
    boot_time_report,
    bootstage,
    cbmem,
    fpdt,
    slim_bootloader,
    ti_sbl,
    xbl,
)
from bootlab.importers.freebsd import boottrace, tslog
from bootlab.importers.from_extensions import load_outside
from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel import ftrace
from bootlab.importers.kernel import log as kernel_log
from bootlab.importers.kernel import marks as kernel_marks
from bootlab.importers.reading.source import FormatError, Head, Source
from bootlab.importers.reading.tally import left_out_notes
from bootlab.importers.serial import bootlab_watch as watch
from bootlab.importers.serial import grabserial, lava, loader_console
from bootlab.importers.systemd import analyze_text as systemd_text
from bootlab.importers.systemd import dump as systemd_dump
from bootlab.importers.systemd import journal
from bootlab.importers.systemd import plot_json as systemd_plot
from bootlab.importers.systemd import plot_svg as systemd_svg
from bootlab.importers.systemd import show as systemd_show
from bootlab.importers.tool_files import tool_file
from bootlab.importers.vmm import (
    cloud_hypervisor_events,
    ec2_boot_bench,
    firecracker_log,
    firecracker_metrics,
    qemu_boot_time,
    qemu_trace,
    strace,
)
from bootlab.timeline.recording import Recording

IMPORTERS: Final[tuple[Importer, ...]] = (
    watch.IMPORTER,
    tslog.IMPORTER,
    boottrace.IMPORTER,
    firecracker_log.IMPORTER,
    firecracker_metrics.IMPORTER,
    cloud_hypervisor_events.IMPORTER,
    bootstage.IMPORTER,
    cbmem.IMPORTER,
    ec2_boot_bench.IMPORTER,
    android.IMPORTER,
    boot_kpi.IMPORTER,
    fpdt.IMPORTER,
    xbl.IMPORTER,
    slim_bootloader.IMPORTER,
    boot_time_report.IMPORTER,
    ti_sbl.IMPORTER,
    comma.IMPORTER,
    qemu_boot_time.IMPORTER,
    qemu_trace.IMPORTER,
    strace.IMPORTER,
    bootchart.IMPORTER,
    bootchart_svg.IMPORTER,
    journal.IMPORTER,
    cloud_init.IMPORTER,
    systemd_svg.IMPORTER,
    systemd_plot.IMPORTER,
    systemd_show.IMPORTER,
    systemd_dump.IMPORTER,
    systemd_text.IMPORTER,
    ftrace.IMPORTER,
    grabserial.IMPORTER,
    lava.IMPORTER,
    kernel_marks.IMPORTER,
    kernel_log.IMPORTER,
    loader_console.IMPORTER,
    boot_series.IMPORTER,
)
"""The first that recognises a file reads it, so the most telling formats come first and plain text last.

Those of extensions come before all of these (`all_importers`).
"""


_ZIPPED: Final = "it is a zip archive: unpack it, or `unzip -p FILE | bootlab import -` where it holds one file"
_SIMPLE_TRACE: Final = b"\xff" * 8 + (0xF2B177CB0AA429B4).to_bytes(8, "little")
"""How a file of QEMU's trace backend `simple` begins (trace/simple.c)."""
_PERF_SAMPLE: Final = re.compile(
    rb"\s{0,40}\S[^\n]{0,40}?\s\d{1,9}(?:/\d{1,9})?(?: \[\d{3,4}\])? {1,9}\d{1,9}\.\d{6,9}: {1,9}"
    rb"\d{1,15} [\w-]+[:\w/=-]*:"
)
"""How `perf script` prints a sample: comm, pid, processor where it was kept, seconds, period, event."""
LATEST: Final = 1 << 56
"""More ns than two years have, or cycles; a file with such a time in it is damaged."""


def all_importers(folders: tuple[Path, ...] = ()) -> tuple[Importer, ...]:
    """Return the importers of extensions, installed and in `folders`, then bootlab's own: the order of who is asked.

    What is broken in an extension is noted and left out (extensions/broken.py).
    """
    # Bootlab's own take any text with a line of the kernel's for a console's log: behind them none would be asked.
    return (*load_outside(folders, frozenset(one.name for one in IMPORTERS)), *IMPORTERS)


def find_importer(head: Head, folders: tuple[Path, ...] = ()) -> Importer | None:
    """Return the importer that a file is for, or None."""
    return next((one for one in all_importers(folders) if one.recognise(head)), None)


def require_importer(name: str, folders: tuple[Path, ...] = ()) -> Importer:
    """Return the importer called `name`. Raises InputError."""
    known = all_importers(folders)
    for one in known:
        if one.name == name:
            return one
    raise InputError(
        f"--format {name}: no such format", hint=f"there are {', '.join(sorted(one.name for one in known))}"
    )


def read_recording(source: Source, options: Options, format_name: str | None = None) -> Recording:
    """Return what a file says, read as `format_name`, or as what it looks like.

    Raises FormatError, which names file and line, for what no importer knows or what is not of its format.
    """
    if format_name is not None:
        return _read(require_importer(format_name, options.extensions), source, options)
    if not source.head.data:
        raise FormatError(f"{source.name}: empty", hint="was the recording saved?")
    if (kind := tool_file(source.head.data)) is not None:
        raise FormatError(
            f"{source.name}: it is {kind.title}, which only {kind.argv[0]} can read",
            hint=f"{kind.command(source.name)} | bootlab import -",
        )
    importer = find_importer(source.head, options.extensions)
    if (importer is None or importer in IMPORTERS) and source.head.data.startswith(_SIMPLE_TRACE):
        raise FormatError(
            f"{source.name}: it is a trace of QEMU's backend `simple`, which only QEMU's simpletrace.py can read",
            hint=f"scripts/simpletrace.py trace-events-all {source.name} | bootlab import -  (both are of the build of "
            "the QEMU that wrote it); or trace with -trace PATTERN -msg timestamp=on -D FILE, which is text",
        )
    alone = loose.log_alone(source.head.data) if importer in (None, boot_series.IMPORTER, bootchart.IMPORTER) else None
    if alone is not None:
        raise FormatError(
            f"{source.name}: it is {alone} of a bootchart, by itself",
            hint=f"import the folder that it lies in, or pack it: tar czf bootchart.tgz {' '.join(loose.LOGS[:4])} ...",
        )
    if importer is None and _PERF_SAMPLE.match(source.head.data) is not None:
        raise FormatError(
            f"{source.name}: samples of perf, which say where a processor was and not when something began and ended",
            hint="record events: perf record -a -e 'sched:*' -e 'initcall:*'; for samples, perf script | speedscope -",
        )
    if importer is None and (said := android.markless(source.head)) is not None:
        raise FormatError(f"{source.name}: it is {said[0]}", hint=said[1])
    if importer is None:
        raise FormatError(
            f"{source.name}: none of the {len(all_importers(options.extensions))} formats; "
            f"it begins {ascii(_beginning(source.head))}",
            hint=_ZIPPED
            if source.head.data.startswith(b"PK\x03\x04")
            else "bootlab import --explain FILE names the nearest; --format NAME reads it as one of them",
        )
    return _read(importer, source, options)


def _read(importer: Importer, source: Source, options: Options) -> Recording:
    recording = _bounded(importer.read(source, options), source)
    if not source.tally.counted():
        return recording
    for _ in source.rows():
        source.tally.leave_out("behind the end of what was read")
    account = source.account()
    return recording if account is None else replace(recording, notes=(*recording.notes, *left_out_notes(account)))


def _bounded(recording: Recording, source: Source) -> Recording:
    # What follows adds such times up in 64 bits, and the page's scripts know integers up to 2**53.
    spans, events = (*recording.timeline.spans, *recording.phases), recording.timeline.events
    longest = max(
        max((max(abs(one.start_ns), abs(one.end_ns)) for one in spans), default=0),
        max((abs(one.t_ns) for one in events), default=0),
        max((abs(one.took_ns) for one in recording.lengths), default=0),
        max((abs(one.own_ns) for one in recording.stacks), default=0),
    )
    backwards = next((one for one in spans if one.end_ns < one.start_ns), None)
    if backwards is not None:
        raise FormatError(
            f"{source.name}: {ascii(backwards.name[:60])} ends before it begins: a damaged file, or no "
            f"{recording.format}"
        )
    if longest > LATEST:
        unit = recording.timeline.clock.unit
        raise FormatError(
            f"{source.name}: it has a time of {longest} {unit}, and no boot lasts so long: a damaged file, or no "
            f"{recording.format}",
            hint="--format names another format; bootlab import --formats lists them",
        )
    return recording


def _beginning(head: Head) -> str:
    return next((row for row in head.rows if row.strip()), "")[:60]
