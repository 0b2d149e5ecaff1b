"""The virtual clock repeats exactly: counts, marks and console, boot after boot and machine after machine."""

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.series import are_identical
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


SYSTEMS = [
    pytest.param("debian-cloud", marks=pytest.mark.promise("exact boots", "machine q35")),
    "debian-13-cloud",
    pytest.param("debian-arm64", marks=pytest.mark.promise("exact boots", "machine virt")),
    pytest.param("debian-riscv64", marks=pytest.mark.promise("exact boots", "machine virt")),
]


@pytest.fixture(scope="module")
def booted(shop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[BootRecord]]:
    """Return what boots an example three times; asked again, it boots nothing."""

    @cache
    def boot_it(name: str) -> list[BootRecord]:
        prepared: Prepared = prepare(shop, read_system(EXAMPLES / f"{name}.toml"))
        run = Store(tmp_path_factory.mktemp(name)).start(RunKind.MEASURE, name, {})
        return Engine(run).boot_all([Job(str(number), prepared) for number in range(3)])

    return boot_it


@pytest.mark.parametrize("name", SYSTEMS)
def test_three_boots_are_identical(name: str, booted: Callable[[str], list[BootRecord]]) -> None:
    records = booted(name)
    assert [record.outcome for record in records] == [Outcome.READY] * 3, [record.detail for record in records]
    assert are_identical(records), [figures(record) for record in records]
    first = records[0]
    assert first.initcalls == records[1].initcalls == records[2].initcalls
    assert len(first.initcalls) > 300
    times = [first.marks[mark] for mark in m.BOOT_ORDER if mark in first.marks]
    assert times == sorted(times)
    assert set(m.BOOT_ORDER) <= set(first.marks)
    assert sum(phase.duration_ns for phase in first.phases) == first.ready_ns


@pytest.mark.rolling
@pytest.mark.parametrize("name", SYSTEMS)
def test_another_machine_measured_the_same(name: str, booted: Callable[[str], list[BootRecord]]) -> None:
    record = booted(name)[0]
    known = json.loads(EXPECTED.read_text())
    key = expected_key(record)
    if os.environ.get("BOOTLAB_GOLDEN") == "write":
        known[key] = figures(record)
        EXPECTED.write_text(json.dumps(known, indent=1) + "\n")
    if key not in known:
        pytest.skip(f"no expected figures for {key}; measured: {json.dumps(figures(record))}")
    assert figures(record) == known[key]
