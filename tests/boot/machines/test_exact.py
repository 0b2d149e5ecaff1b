"""The virtual clock repeats exactly: counts, marks and console, boot after boot and machine after machine."""

import json
import os
import warnings
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.series import identical
from bootlab.experiments.store import RunKind, Store
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system
from bootlab.targets.target import Prepared
from bootlab.timeline import marks as m

pytestmark = [pytest.mark.boot, pytest.mark.network]

EXAMPLES = Path(__file__).parents[3] / "examples"
EXPECTED = Path(__file__).parents[2] / "data" / "expected-figures.json"


def figures(record: BootRecord) -> dict[str, object]:
    """Return what another machine must measure too."""
    return {
        "instructions": record.instructions,
        "idle_ns": record.idle_ns,
        "marks": {name: record.marks[name] for name in m.BOOT_ORDER if name in record.marks},
        "console_sha256": record.console_sha256,
    }


def expected_key(record: BootRecord) -> str:
    """Return what the figures depend on: the boot's inputs by hash. The plugin is not among them: it cannot matter."""
    parts = [f"{name} {record.hashes[name][:16]}" for name in sorted(record.hashes) if name != "plugin"]
    return f"{record.system}: " + ", ".join(parts)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("debian-cloud", marks=pytest.mark.promise("exact boots", "machine q35")),
        "debian-13-cloud",
        pytest.param("debian-arm64", marks=pytest.mark.promise("exact boots", "machine virt")),
        pytest.param("debian-riscv64", marks=pytest.mark.promise("exact boots", "machine virt")),
    ],
)
def test_three_boots_are_identical(name: str, shop: Workshop, tmp_path: Path) -> None:
    prepared: Prepared = prepare(shop, read_system(EXAMPLES / f"{name}.toml"))
    run = Store(tmp_path).start(RunKind.MEASURE, name, {})
    records = Engine(run).boot_all([Job(str(number), prepared) for number in range(3)])
    assert [record.outcome for record in records] == [Outcome.READY] * 3, [record.detail for record in records]
    assert identical(records), [figures(record) for record in records]
    first = records[0]
    assert first.initcalls == records[1].initcalls == records[2].initcalls
    assert len(first.initcalls) > 300
    times = [first.marks[mark] for mark in m.BOOT_ORDER if mark in first.marks]
    assert times == sorted(times)
    assert set(m.BOOT_ORDER) <= set(first.marks)
    assert sum(phase.duration_ns for phase in first.phases) == first.ready_ns
    check_against_other_machines(first)


def check_against_other_machines(record: BootRecord) -> None:
    known = json.loads(EXPECTED.read_text())
    key = expected_key(record)
    if os.environ.get("BOOTLAB_GOLDEN") == "write":
        known[key] = figures(record)
        EXPECTED.write_text(json.dumps(known, indent=1) + "\n")
    if key not in known:
        # Packages roll: a new kernel or QEMU is nothing to fail for. What it measures is shown as a warning, since a
        # passing test's print is swallowed.
        warnings.warn(f"no expected figures for {key}; measured: {json.dumps(figures(record))}", stacklevel=1)
        return
    assert figures(record) == known[key]
