"""Families -> rows: savings with and without a load time, and what a technique contributes to a finished stack."""

import pytest

from bootlab.errors import BootFailed
from bootlab.experiments.family import Family
from bootlab.experiments.trial.judging import baseline_of, finished_of, judge, judge_ablation
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import Storage
from bootlab.techniques.model.catalogue import load_catalogue

TECHNIQUE = next(one for one in load_catalogue() if one.name == "cmdline_quiet")
QUIET, LOUD = {"printk": "0 4 1 7", "cmdline": "quiet"}, {"printk": "7 4 1 7", "cmdline": ""}
STORAGE = Storage(mb_s=20, latency_us=500)


def record(ready_ns: int, facts: dict[str, str], *, kernel: int = 0, outcome: Outcome = Outcome.READY) -> BootRecord:
    return BootRecord(
        system="test", clock="virtual", accelerator="tcg", ns_per_instruction=1, cpu="max", seed=1, outcome=outcome,
        detail="", instructions=1, idle_ns=0,
        marks={"power_on": 0, "init_exec": ready_ns - 5, "first_user_instruction": ready_ns - 3, "ready": ready_ns},
        phases=[], initcalls=[], kaslr_slide=None, facts=facts, console_sha256="", key="", hashes={},
        sizes={"kernel": kernel}, load_ns=STORAGE.load_ns([kernel]) if kernel else 0,
        storage=STORAGE if kernel else None, host={}, argv=[], started="", wall_s=1.0, run="run",
    )  # fmt: skip


def family(*ready_ns: int, facts: dict[str, str], kernel: int = 0, null: tuple[int, ...] = ()) -> Family:
    return Family(
        tuple(record(one, facts, kernel=kernel) for one in ready_ns),
        tuple(record(one, facts, kernel=kernel) for one in null),
    )


def test_with_a_storage_model_the_load_decides_with() -> None:
    before = family(1000, 1010, 1020, facts=LOUD, kernel=20_000_000, null=(1005,))
    smaller_but_slower = family(2000, 2010, 2020, facts=QUIET, kernel=10_000_000)
    judged = judge(TECHNIQUE, before, smaller_but_slower, wall=False)
    assert judged.verdict == "faster"
    assert judged.saved_ns == 500_000_000 - 1000
    assert (judged.load_ns, judged.ready_ns, judged.user_space_ns) == (500_500_000, 2010, 2007)
    assert judged.total_ns == 500_502_010
    assert judged.sizes == {"kernel": 10_000_000}
    end = finished_of(before, smaller_but_slower, ["cmdline_quiet"])
    assert end.ratio == pytest.approx(1_000_501_010 / 500_502_010)


def test_without_one_it_is_ready_alone() -> None:
    before = family(1000, 1010, 1020, facts=LOUD, null=(1005,))
    base = baseline_of(before)
    assert (base.total_ns, base.ready_ns, base.load_ns, base.spread_ns) == (1010, 1010, 0, 20)
    assert judge(TECHNIQUE, before, family(900, 910, 920, facts=QUIET), wall=False).saved_ns == 100


def test_ablation_says_what_putting_it_back_saves() -> None:
    whole = family(900, 910, 920, facts=QUIET, null=(905, 915))
    row = judge_ablation(TECHNIQUE, "recommended", 300, whole, family(1000, 1010, 1020, facts=LOUD), wall=False)
    assert (row.verdict, row.saved_ns, row.alone_ns, row.ready_ns) == ("faster", 100, 300, 1010)
    slower = judge_ablation(TECHNIQUE, "recommended", None, whole, family(700, 710, 720, facts=LOUD), wall=False)
    assert (slower.verdict, slower.saved_ns) == ("slower", -200)
    settled = judge_ablation(TECHNIQUE, "recommended", 300, whole, family(912, facts=LOUD), wall=False)
    assert settled.verdict == "no difference shown"


def test_a_stack_that_needs_the_technique() -> None:
    whole = family(900, 910, 920, facts=QUIET)
    broken = Family((record(1000, LOUD, outcome=Outcome.PANICKED),))
    row = judge_ablation(TECHNIQUE, "recommended", None, whole, broken, wall=False)
    assert (row.verdict, row.saved_ns) == ("broke it", None)
    assert "without it panicked" in row.detail
    killed = Family((record(1000, LOUD, outcome=Outcome.TARGET_DIED),))
    with pytest.raises(BootFailed):
        judge_ablation(TECHNIQUE, "recommended", None, whole, killed, wall=False)
