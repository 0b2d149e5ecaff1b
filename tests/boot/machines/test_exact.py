"""The virtual clock repeats exactly: counts, marks and console, boot after boot and machine after machine."""

from collections.abc import Callable
from functools import cache

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
from tests.boot.conftest import EXAMPLES
from tests.boot.recorded_figures import compare_with_record, figures

pytestmark = [pytest.mark.boot, pytest.mark.network]

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
    compare_with_record(booted(name)[0])
