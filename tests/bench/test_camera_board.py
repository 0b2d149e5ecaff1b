"""The camera board from everything by default to its best: how many times less, and less than half a second."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.findings.technique_evidence import measured_of
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques

pytestmark = pytest.mark.bench

EXAMPLES = Path(__file__).parents[2] / "examples"
# U-Boot's delay and its scans for what this board does not have: seconds that nobody should claim to have saved.
EASY = ("bootloader_no_delay", "bootloader_no_scan")
LEAST_RATIO, LEAST_TRIMMED_RATIO = 20, 5
MOST_NS = 500_000_000


def test_the_first_frame_comes_twenty_times_as_early(tmp_path: Path) -> None:
    def booted(name: str, system: System) -> BootRecord:
        folder = tmp_path / name
        folder.mkdir()
        record = boot(prepare(Workshop(Cache.default()), system), folder)
        # READY: past its check, which compares the frame's checksum.
        assert record.outcome is Outcome.READY and record.ready_ns is not None, record.detail
        print(f"{name}: {record.ready_ns / 1e6:,.2f} ms to the first frame")
        return record

    by_default = read_system(EXAMPLES / "camera-board.toml")
    baseline = booted("default", by_default)
    trimmed = by_default
    for technique in require_techniques(load_catalogue(), EASY):
        trimmed = technique.change.apply(trimmed, measured_of(baseline))
    times = {
        "default": baseline.ready_ns,
        "trimmed": booted("trimmed", trimmed).ready_ns,
        "fast": booted("fast", read_system(EXAMPLES / "camera-board-fast.toml")).ready_ns,
    }
    default_ns, trimmed_ns, fast_ns = (times[name] or 0 for name in ("default", "trimmed", "fast"))
    assert 0 < fast_ns < MOST_NS
    assert default_ns >= LEAST_RATIO * fast_ns
    assert trimmed_ns >= LEAST_TRIMMED_RATIO * fast_ns
