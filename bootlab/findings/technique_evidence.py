"""Turns boot records into what techniques ask for: a boot's measured values, and evidence that a knob took effect."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from bootlab.build.source.config_text import read_config
from bootlab.kept_file import damaged, read_kept_bytes
from bootlab.measure.record import BootRecord, WakeRecord
from bootlab.techniques.model.evidence import Evidence, Measured


def measured_of(record: BootRecord, kernel_config: Path | None = None) -> Measured:
    """Return what a boot measured, for techniques whose knob is a measured value.

    `kernel_config` is the configuration of the kernel that booted, when it is known.
    """
    initcalls = {initcall.name: initcall.duration_ns for initcall in record.initcalls}
    return Measured(record.facts, initcalls, record.marks, _console(record), _config(kernel_config), record.sizes)


def evidence_of(record: BootRecord, kernel_config: Path | None = None) -> Evidence:
    """Return what a boot shows about itself. `kernel_config` as in `measured_of`."""
    measured = measured_of(record, kernel_config)
    return Evidence(
        measured.facts,
        measured.initcalls_ns,
        measured.marks,
        measured.console,
        record.kaslr_slide,
        measured.kernel_config,
        record.sizes,
        {phase.name: phase.read_bytes for phase in record.phases if phase.read_bytes is not None},
        {} if record.price is None else {name: one.count for name, one in record.charges.items()},
        {disk.drive: disk.passed_bytes for disk in record.disks if disk.passed_bytes is not None},
        frozenset(driver.name for driver in record.drivers),
        {f"{one.driver} {one.device}": one.duration_ns for one in _wakes(record)},
    )


def _wakes(record: BootRecord) -> list[WakeRecord]:
    return [] if record.power_on is None else record.power_on.devices


def _console(record: BootRecord) -> str:
    path = Path(record.run) / "console.log"
    try:
        return read_kept_bytes(path).decode(errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise damaged(path, error) from error


def _config(path: Path | None) -> Mapping[str, str]:
    return {} if path is None else _read(path)


@lru_cache(maxsize=64)
def _read(path: Path) -> Mapping[str, str]:
    # The file lies in the cache, or beside the kernel that booted: it does not change while we run.
    return read_config(path)
