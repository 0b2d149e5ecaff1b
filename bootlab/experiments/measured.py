"""Boot records as what techniques ask of a boot: its measured values, and its evidence."""

from pathlib import Path

from bootlab.measure.record import BootRecord
from bootlab.techniques.technique import Evidence, Measured


def measured_of(record: BootRecord) -> Measured:
    """Return what a boot measured, for techniques whose knob is a measured value."""
    initcalls = {initcall.name: initcall.duration_ns for initcall in record.initcalls}
    return Measured(record.facts, initcalls, record.marks, _console(record))


def evidence_of(record: BootRecord) -> Evidence:
    """Return what a boot shows about itself."""
    measured = measured_of(record)
    return Evidence(measured.facts, measured.initcalls_ns, measured.marks, measured.console, record.kaslr_slide)


def _console(record: BootRecord) -> str:
    path = Path(record.run) / "console.log"
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
