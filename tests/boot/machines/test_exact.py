"""The virtual clock repeats exactly: counts, marks and console, boot after boot and machine after machine."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.series import are_identical
from bootlab.experiments.store import RunKind, Store
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import moved_ticks_ns, read_system
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


def test_what_qemu_is_spared_at_a_pause_changes_nothing(
    shop: Workshop, booted: Callable[[str], list[BootRecord]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel spins by PAUSE for 100 ms while it calibrates a timer; QEMU itself goes around all vCPUs each time."""
    prepared = prepare(shop, read_system(EXAMPLES / "debian-cloud.toml"))
    engine = Engine(Store(tmp_path).start(RunKind.MEASURE, "pauses", {}))
    told = {}
    for way in ("told", "own"):
        monkeypatch.setenv("BOOTLAB_QEMU_PAUSE", way)
        (told[way],) = engine.boot_all([Job(way, prepared)])
    said = (Path(told["told"].run) / "qemu.stderr").read_text()
    counts = re.search(r"(\d+) PAUSEs went on at once, (\d+) around all vCPUs", said)
    assert counts is not None and int(counts[1]) > 1_000_000 > int(counts[2]), said
    assert are_identical([told["own"], told["told"], *booted("debian-cloud")])
    assert told["own"].initcalls == told["told"].initcalls and told["own"].stamps == told["told"].stamps


@pytest.mark.parametrize("name", ["debian-cloud", "debian-arm64"])
def test_ticks_are_moved_against_the_work_and_no_time_holds_it(name: str, shop: Workshop, tmp_path: Path) -> None:
    """The guest's clock goes on by 0.94 ms as its initcalls begin; ours does not, and ticks meet other work."""
    system = read_system(EXAMPLES / f"{name}.toml").with_seed(2)
    if name == "debian-cloud":
        # Its local timer ticks for the first time 1.6 ms behind that.
        system = system.model_copy(update={"marks": {"tick": "sysvec_apic_timer_interrupt"}})
    moving = system.with_part("clock", tick_us=4000)
    moved_ns = moved_ticks_ns(moving)
    job = Job("moved", prepare(shop, moving))
    jobs = [job, replace(job, label="again"), Job("still", prepare(shop, system))]
    moved, again, still = Engine(Store(tmp_path).start(RunKind.MEASURE, name, {})).boot_all(jobs)
    assert are_identical([moved, again]) and moved.outcome is Outcome.READY and moved.remarks == still.remarks
    assert (moved.ticks_moved_ns, still.ticks_moved_ns) == (moved_ns, 0)
    assert moved.marks[m.INITCALLS_START] == still.marks[m.INITCALLS_START]
    assert moved.ready_ns is not None and still.ready_ns is not None
    assert 0 < abs(moved.ready_ns - still.ready_ns) < 4_000_000
    if name == "debian-cloud":
        assert abs(still.marks["tick"] - moved.marks["tick"] - moved_ns) < 10_000
