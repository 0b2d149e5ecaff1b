"""Makes a boot's phases for its record: when each was, what was read from disk or card in it, U-Boot's own stages."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.importers.firmware.bootstage import parse_report
from bootlab.measure.record import PhaseRecord, StageRecord
from bootlab.profile.recorded.card_reads import CARD_LOG, read_between, read_card_log
from bootlab.timeline import marks as m
from bootlab.timeline import phases

_REPORT: Final = "Timer summary in microseconds"


def phase_records(
    marks: Mapping[str, int], directory: Path, ready_mark: str | None, disk_reads: Mapping[str, int]
) -> list[PhaseRecord]:
    """Return the phases of a boot in `directory`. `ready_mark`: what the guest calls ready.

    `disk_reads`: bytes that were read from disks before each mark; empty where they are not counted.
    """
    log = directory / CARD_LOG
    reads = read_card_log(log)
    # It has a line for each block, and is of no use any more.
    log.unlink(missing_ok=True)
    if reads:
        reads[m.POWER_ON] = 0
        if ready_mark in reads:
            reads[m.READY] = reads[ready_mark]
    reads = reads or dict(disk_reads)
    return [
        PhaseRecord(
            name=one.name,
            start=one.start,
            end=one.end,
            start_ns=one.start_ns,
            duration_ns=one.duration_ns,
            read_bytes=read_between(reads, one.start, one.end),
        )
        for one in phases.cut(marks)
    ]


def stage_records(console: str) -> list[StageRecord]:
    """Return the stages of the bootstage report on a console; none where U-Boot was not built to print one."""
    if _REPORT not in console:
        return []
    try:
        report = parse_report(console)
    except InputError:
        # Cut off behind its first line: the console shows as much.
        return []
    return [StageRecord(name=one.name, t_ns=one.t_ns) for one in report.stages]
