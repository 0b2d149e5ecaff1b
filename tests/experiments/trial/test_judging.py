"""Families -> rows: savings with and without a load time, and what a technique contributes to a finished stack."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.errors import BootFailed
from bootlab.experiments.family import Family
from bootlab.experiments.trial.judging import baseline_of, finished_of, judge, judge_ablation
from bootlab.experiments.trial.result import StackName
from bootlab.findings.technique_evidence import evidence_of
from bootlab.measure.record import BootRecord, Outcome, PowerOnRecord, StageRecord, WakeRecord
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


def family(
    *ready_ns: int,
    facts: dict[str, str],
    kernel: int = 0,
    null: tuple[int, ...] = (),
    fresh: tuple[int, ...] = (),
) -> Family:
    def boots(times: tuple[int, ...]) -> tuple[BootRecord, ...]:
        return tuple(record(one, facts, kernel=kernel) for one in times)

    return Family(boots(ready_ns), boots(null), fresh=boots(fresh))


def test_with_a_storage_model_the_load_decides_with() -> None:
    before = family(1000, 1010, 1020, facts=LOUD, kernel=20_000_000, null=(1005,))
    smaller_but_later = family(2000, 2010, 2020, facts=QUIET, kernel=10_000_000, fresh=(2005, 2015))
    judged = judge(TECHNIQUE, before, smaller_but_later, wall=False)
    assert judged.verdict == "shorter"
    assert judged.saved_ns == 500_000_000 - 1000
    assert (judged.load_ns, judged.ready_ns, judged.user_space_ns) == (500_500_000, 2010, 2007)
    assert judged.total_ns == 500_502_010
    assert judged.sizes == {"kernel": 10_000_000}
    end = finished_of(before, smaller_but_later, ["cmdline_quiet"])
    assert end.ratio == pytest.approx(1_000_501_010 / 500_502_010)


def test_without_one_it_is_ready_alone() -> None:
    before = family(1000, 1010, 1020, facts=LOUD, null=(1005,))
    base = baseline_of(before)
    assert (base.total_ns, base.ready_ns, base.load_ns, base.spread_ns) == (1010, 1010, 0, 20)
    assert judge(TECHNIQUE, before, family(900, 910, 920, facts=QUIET), wall=False).saved_ns == 100


def test_evidence_names_what_firmware_started_and_which_devices_woke() -> None:
    woken = PowerOnRecord(kind="suspended", devices=[WakeRecord(device="1-1", driver="usb", duration_ns=296_118_000)])
    drivers = [StageRecord(name="option-ROM", t_ns=12_172_338), StageRecord(name="Fat", t_ns=14_000_000)]
    told = record(1000, QUIET).model_copy(update={"power_on": woken, "drivers": drivers})
    shown = evidence_of(told)
    assert shown.firmware_programs == {"option-ROM", "Fat"} and shown.wakes_ns == {"usb 1-1": 296_118_000}
    bare = evidence_of(record(1000, QUIET))
    assert not bare.firmware_programs and not bare.wakes_ns


def felt(whole: Family, name: str, *taken_ns: int | None) -> Family:
    """Return a family whose boots took so long for the timing `name`, members first and then null changes."""
    told = iter(taken_ns)
    sides = [
        tuple(one.model_copy(update={"timings_ns": {name: next(told)}}) for one in records)
        for records in (whole.members, whole.null)
    ]
    return replace(whole, members=sides[0], null=sides[1])


def test_timings_stand_beside_what_is_judged() -> None:
    before = felt(family(1000, 1010, 1020, facts=LOUD, null=(1005,)), "login", 500, None, 520, 530)
    base = baseline_of(before)
    assert (base.timings_ns, base.timing_spreads_ns) == ({"login": 510}, {"login": 30}), "the boot without it is out"
    after = felt(family(900, 910, 920, facts=QUIET, fresh=(905, 915)), "login", 400, 401, 402)
    judged = judge(TECHNIQUE, before, after, wall=False)
    assert (judged.saved_ns, judged.timings_ns) == (100, {"login": 401})
    assert finished_of(before, after, ["cmdline_quiet"]).timings_ns == {"login": 401}
    never = felt(family(900, facts=QUIET), "login", None)
    assert judge(TECHNIQUE, before, never, wall=False).timings_ns == {"login": None}
    assert baseline_of(family(1000, facts=LOUD)).timings_ns == {}


def test_ablation_says_what_putting_it_back_saves() -> None:
    whole = family(900, 910, 920, facts=QUIET, null=(905, 915))
    without = family(1020, 1030, 1040, facts=LOUD, fresh=(1025, 1035))
    row = judge_ablation(TECHNIQUE, "recommended", 300, whole, without, wall=False)
    assert (row.verdict, row.saved_ns, row.alone_ns, row.ready_ns) == ("shorter", 120, 300, 1030)
    shorter_without = family(700, 710, 720, facts=LOUD, fresh=(705, 715))
    longer = judge_ablation(TECHNIQUE, "recommended", None, whole, shorter_without, wall=False)
    assert (longer.verdict, longer.saved_ns) == ("longer", -200)
    settled = judge_ablation(TECHNIQUE, "recommended", 300, whole, family(912, facts=LOUD), wall=False)
    assert settled.verdict == "no difference shown"


def test_a_stack_that_needs_the_technique() -> None:
    whole = family(900, 910, 920, facts=QUIET)
    broken = Family((record(1000, LOUD, outcome=Outcome.PANICKED),))
    row = judge_ablation(TECHNIQUE, "recommended", None, whole, broken, wall=False)
    assert (row.verdict, row.saved_ns) == ("broke it", None)
    assert "without it panicked" in row.detail
    unlucky = replace(whole, null=(record(905, QUIET, outcome=Outcome.HUNG),))
    told = judge_ablation(TECHNIQUE, "recommended", None, unlucky, broken, wall=False).detail
    assert told == "without it panicked: ; with it, too, now and then: run: hung: "
    killed = Family((record(1000, LOUD, outcome=Outcome.TARGET_DIED),))
    with pytest.raises(BootFailed):
        judge_ablation(TECHNIQUE, "recommended", None, whole, killed, wall=False)


def test_what_stands_on_boots_that_were_not_ready_has_no_verdict() -> None:
    """On the wall clock each technique has boots before it of its own, and all of them may fail."""
    never = record(1000, LOUD, outcome=Outcome.HUNG).model_copy(update={"marks": {}})
    hung = Family((never,) * 5)
    row = judge(TECHNIQUE, hung, family(*range(900, 905), facts=QUIET), wall=True)
    assert (row.verdict, row.saved_ns, row.spread_ns, len(row.members)) == ("no verdict", None, 0, 5)
    assert row.detail == "what it stands on is not steady: run: hung: "
    assert row.ready_ns == 902, "its own boots are all well"
    both = judge(TECHNIQUE, hung, hung, wall=True)
    assert (both.verdict, both.detail) == ("broke it", "hung: ; without it, too, now and then: run: hung: ")
    whole = family(900, 910, 920, facts=QUIET, null=(905,))
    unlucky = replace(whole, null=(record(905, QUIET, outcome=Outcome.HUNG),))
    taken_out = judge_ablation(TECHNIQUE, "recommended", 300, unlucky, family(1000, facts=LOUD), wall=False)
    assert (taken_out.verdict, taken_out.saved_ns, taken_out.alone_ns) == ("no verdict", None, 300)


def configured(tmp_path: Path, name: str, config: str) -> Family:
    """Return a family whose kernel was built with `config`."""
    path = tmp_path / name
    path.write_text(config)
    return replace(family(1000, 1010, facts={}), kernel_config=path)


def test_a_row_says_what_else_changed_in_the_kernel(tmp_path: Path) -> None:
    audit = next(one for one in load_catalogue() if one.name == "kernel_audit_off")
    before = configured(
        tmp_path, "before", "CONFIG_AUDIT=y\nCONFIG_SECURITY_APPARMOR=y\nCONFIG_NR_CPUS=8\nCONFIG_NET=y\n"
    )
    after = configured(
        tmp_path, "after", "# CONFIG_AUDIT is not set\nCONFIG_NR_CPUS=4\nCONFIG_NET=y\nCONFIG_EXPERT=y\n"
    )
    row = judge(audit, before, after, wall=False)
    assert row.also_changed == {
        "EXPERT": ("n", "y"),
        "NR_CPUS": ("8", "4"),
        "SECURITY_APPARMOR": ("y", "n"),
    }
    assert row.also_lost == ["SECURITY_APPARMOR"]
    # Out of a finished stack and back in it is the same.
    back = judge_ablation(audit, StackName.WITH_RISKS, None, after, before, wall=False)
    assert (back.also_changed, back.also_lost) == (row.also_changed, row.also_lost)
    assert judge(audit, before, before, wall=False).also_changed == {}


def test_the_risk_of_a_row_is_that_of_what_the_kernel_lost(tmp_path: Path) -> None:
    harmless = next(one for one in load_catalogue() if one.name == "kernel_hz_100")
    before = configured(tmp_path, "before", "CONFIG_HZ_250=y\nCONFIG_STACKPROTECTOR=y\n")
    after = configured(tmp_path, "after", "CONFIG_HZ_100=y\n")
    assert judge(harmless, before, after, wall=False).risk == "security"
    alike = configured(tmp_path, "alike", "CONFIG_HZ_100=y\nCONFIG_STACKPROTECTOR=y\n")
    assert judge(harmless, before, alike, wall=False).risk == "none"
    broken = replace(after, members=(record(1000, {}, outcome=Outcome.PANICKED),))
    assert judge(harmless, before, broken, wall=False).also_lost == ["STACKPROTECTOR"]
