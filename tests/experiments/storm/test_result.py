"""What is made of a storm: ranks, and words for what made machines wait for each other."""

from collections import Counter

from bootlab.experiments.storm.result import median_kib, rank, storm_result
from bootlab.measure.host.process_use import ProcessUse
from bootlab.measure.record import Outcome
from bootlab.measure.storm import Storm, StormMachine
from tests.cli.recorded_runs import boots

MS = 1_000_000


def storm(*, waited_ms: int, held_up: dict[str, int], failed: int = 0, own_ms: int = 1) -> Storm:
    """Return a storm of ten machines that took 100 ms each; the last `failed` of them were not ready."""
    record = boots("series-before.json")[0]
    machines = []
    for number in range(1, 11):
        ready = number <= 10 - failed
        machines.append(
            StormMachine(
                number,
                due_ns=0,
                ready_ns=(90 + number) * MS if ready else None,
                use=ProcessUse(10 * MS, waited_ms * MS, 5, 1) if ready else None,
                pss_kib=1000 + number if ready else None,
                record=record.model_copy(update={} if ready else {"outcome": Outcome.HUNG, "detail": "silent"}),
            )
        )
    return Storm(machines, Counter(held_up), looks=100, memory_kib=20_000, own_cpu_ns=own_ms * MS, took_ns=100 * MS)


def test_ranks_are_values_that_were_there() -> None:
    ordered = list(range(1, 51))
    assert (rank(ordered, 0.50), rank(ordered, 0.99), rank(list(range(1, 201)), 0.99)) == (25, 50, 198)
    assert (rank([7], 0.5), rank([], 0.5)) == (7, None)


def test_what_serialised_machines_is_named_the_heaviest_first() -> None:
    held = {"rtnl_lock": 30, "cgroup_attach_task_all": 10, "a_lock_of_tomorrow": 5, "io_schedule": 1}
    result = storm_result(storm(waited_ms=50, held_up=held, own_ms=60), "made-up", None, 2, "/runs/1")
    cpus, network, itself, groups, unknown = result.serialised_by
    assert "10 machines on 2" in cpus and "52% of their time" in cpus
    assert "taps" in network and "itself" in itself and "favordynmods" in groups and "a_lock_of_tomorrow" in unknown
    assert (result.p50_ns, result.p99_ns, result.last_ns, median_kib(result)) == (95 * MS, 100 * MS, 100 * MS, 1005)


def test_nothing_is_named_where_nothing_was_seen() -> None:
    assert storm_result(storm(waited_ms=1, held_up={}), "made-up", 5.0, 2, "/runs/1").serialised_by == []


def test_machines_that_were_not_ready_count_nowhere_and_are_told() -> None:
    result = storm_result(storm(waited_ms=1, held_up={}, failed=10), "made-up", None, 2, "/runs/1")
    assert (result.ready, result.good, result.p50_ns, result.last_ns, result.serialised_by) == (
        0,
        False,
        None,
        None,
        [],
    )
    assert {(one.outcome, one.detail) for one in result.machines} == {(Outcome.HUNG, "silent")}


def test_a_lock_counts_by_the_looks_at_machines_that_were_not_up() -> None:
    # At a rate few of them rise at a time: three machines that always wait for the same lock are not 3 % of a hundred.
    seen = storm(waited_ms=1, held_up={"rtnl_lock": 30})
    seen.looks = 30
    (words,) = storm_result(seen, "made-up", 5.0, 2, "/runs/1").serialised_by
    assert "taps" in words and words.endswith("seen in 100% of looks")
