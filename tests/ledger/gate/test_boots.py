"""Boots of a gate: one that was not ready is no answer, and another build's chance near the limit stops nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.experiments.family import Family
from bootlab.ledger.gate.boots import Held, hold_exact, hold_noisy
from bootlab.ledger.gate.figures import GateBaseline
from bootlab.ledger.gate.judging import GateVerdict, Limit
from bootlab.ledger.gate.making import make_result
from bootlab.measure.record import Outcome
from bootlab.system import System
from tests.replayed import Booted, answer, engine, families, new_run, own_kernel, replayed
from tests.report.steps import series


def test_a_boot_that_fails_breaks_the_gate_on_either_side() -> None:
    boots = series("series-before.json")
    whole = Family(tuple(boots * 2))
    broken = replace(whole, members=(boots[0].model_copy(update={"outcome": Outcome.HUNG}), *whole.members[1:]))
    for before, after in ((whole, broken), (broken, whole)):
        held = hold_noisy(GateBaseline("before", before), after, {"ready": Limit()})
        assert make_result(held, "run").verdict is GateVerdict.BROKEN
    held = hold_noisy(GateBaseline("before", whole), whole, {"ready": Limit()})
    assert make_result(held, "run").verdict is not GateVerdict.BROKEN


def held(folder: Path, booted: Booted, after: System, before: System) -> Held:
    boots = families(engine(new_run(folder), watcher=booted), before)
    return hold_exact(boots, after, before, {"ready": Limit()}, 5, lambda line: None)


@pytest.mark.parametrize("parallel", [1, 9])
def test_both_sides_are_booted_at_once_where_there_is_room(parallel: int, tmp_path: Path) -> None:
    """The answer is the same; of a side that lacks the figure nobody learns before the other one is booted."""
    system, booted = own_kernel(replayed(tmp_path, answer("slow", later_ns=50_000_000))), Booted()
    boots = families(engine(new_run(tmp_path), parallel=parallel, watcher=booted), system)
    found = hold_exact(boots, system.with_cmdline("slow"), system, {"ready": Limit()}, 5, lambda line: None)
    assert found.judged["ready"].verdict is GateVerdict.LONGER and found.judged["ready"].longer_ns == 50_000_000
    first = {label.partition("-")[0] for label in booted.labels[:8]}
    assert first == {"before"} if parallel == 1 else "after-s1" in booted.labels
    boots = families(engine(new_run(tmp_path / "other"), parallel=parallel, watcher=(other := Booted())), system)
    with pytest.raises(InputError):
        hold_exact(boots, system, system, {"no-such-mark": Limit()}, 5, lambda line: None)
    # The sides are one system: a boot of the later one that starts after its like has ended is taken from the record.
    assert any(label.startswith("after") for label in (*other.labels, *other.reused)) is (parallel > 1)


def test_what_another_build_does_by_chance_stops_nothing_near_the_limit(tmp_path: Path) -> None:
    """A kernel of another name is longer, and so are the null builds of what it is held against."""
    named = answer({"kernel.build": "LOCALVERSION"}, later_ns=300_000)
    system, booted = own_kernel(replayed(tmp_path, named)), Booted()
    found = held(tmp_path, booted, system.with_options(LOCALVERSION="-other"), system).judged["ready"]
    assert found.longer_ns == 300_000 > found.limit_ns
    assert found.verdict is GateVerdict.UNCHANGED
    assert booted.of("before-fresh") == [f"{one}-build{(one - 1) % 2 + 1}-s{one + 3}" for one in range(1, 9)]
    assert all("-build" in label for label in booted.of("after-fresh"))


def test_what_another_kernel_costs_is_stopped_though_its_null_builds_take_turns(tmp_path: Path) -> None:
    larger = answer({"kernel.build": '"SMP": "y"'}, later_ns=300_000)
    system, booted = own_kernel(replayed(tmp_path, larger)), Booted()
    found = held(tmp_path, booted, system.with_options(SMP="y"), system).judged["ready"]
    assert found.verdict is GateVerdict.LONGER
    assert len(booted.of("after-fresh")) == 5


def test_a_kernel_that_was_not_built_anew_has_no_null_builds(tmp_path: Path) -> None:
    system, booted = own_kernel(replayed(tmp_path, answer("nearly", later_ns=300_000))), Booted()
    found = held(tmp_path, booted, system.with_cmdline("nearly"), system).judged["ready"]
    assert found.verdict is GateVerdict.LONGER
    assert booted.labels and not [label for label in booted.labels if "-build" in label]
