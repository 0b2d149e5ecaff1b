"""Families of boots: which seeds and null changes boot, when one boot is enough, and the order on the wall clock.

And which fresh boots confirm a difference: `NOISE` moves the system by 50 us, so that one of 5 ms is plain, and one of
100 us is near.
"""

from pathlib import Path

import pytest

from bootlab.build.source.make import BuildFailed
from bootlab.experiments.family import Family, judgement
from bootlab.experiments.family_boots import Contest, FamilyBoots
from bootlab.system import System
from bootlab.techniques.model.verdict import Verdict
from tests.replayed import (
    READY_NS,
    Answer,
    Booted,
    answer,
    engine,
    families,
    new_run,
    own_kernel,
    replayed,
)

MS = 1_000_000
PLAIN, NEAR = answer("plain", later_ns=-5 * MS), answer("near", later_ns=-100_000)
NEAR_FRESH = [f"{number}-s{number + 3}" for number in range(1, 9)]
"""How the labels of eight fresh boots end; five have the first five of them."""


def ready_ns(family: Family) -> list[int | None]:
    return [record.ready_ns for record in family.members]


def boots_of(folder: Path, system: System, booted: Booted, *, parallel: int = 1) -> FamilyBoots:
    return families(engine(new_run(folder), parallel=parallel, watcher=booted), system)


def test_a_family_is_every_seed_and_so_many_null_changes(tmp_path: Path) -> None:
    system, booted = replayed(tmp_path), Booted()
    family = boots_of(tmp_path, system, booted).family("base", system, nulls=5)
    assert booted.labels == [
        *(f"base-s{seed}" for seed in (1, 2, 3)),
        *(f"base-null{number}-s{seed}" for number, seed in ((1, 1), (2, 2), (3, 3), (4, 1), (5, 2))),
    ]
    assert ready_ns(family) == [READY_NS, READY_NS + 30_000, READY_NS - 20_000]
    assert [record.ready_ns for record in family.null] == [
        READY_NS + 10, READY_NS + 30_000 - 15, READY_NS - 20_000 + 25, READY_NS - 5, READY_NS + 30_000 + 20,
    ]  # fmt: skip
    assert family.median.ready_ns == READY_NS, "of the members alone"
    assert max(family.unchanged_ns) - min(family.unchanged_ns) == 50_020, "over all of them"


def test_null_changes_are_booted_where_too_few_are_there(tmp_path: Path) -> None:
    system, booted = replayed(tmp_path), Booted()
    boots = boots_of(tmp_path, system, booted)
    family = boots.family("base", system, nulls=1)
    assert boots.with_nulls(family, "more", system, 1) is family
    more = boots.with_nulls(family, "more", system, 3)
    assert (len(more.null), more.members) == (3, family.members)
    assert booted.of("more-") == ["null2-s2", "null3-s3"], "and the first is on record"


def test_families_of_several_sides_are_booted_together_and_each_is_what_it_is_alone(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("slow", later_ns=5 * MS))
    (alone := tmp_path / "alone").mkdir()
    booted = Booted()
    boots = boots_of(tmp_path, system, booted, parallel=8)
    slow = system.with_cmdline("slow")
    made = boots.families({"a": (system, 2), "b": (slow, 0)})
    assert sorted(booted.labels) == ["a-null1-s1", "a-null2-s2", "a-s1", "a-s2", "a-s3", "b-s1", "b-s2", "b-s3"]
    one = boots_of(alone, system, Booted())
    for label, (asked, nulls) in {"a": (system, 2), "b": (slow, 0)}.items():
        single = one.family(label, asked, nulls=nulls)
        assert ready_ns(made[label]) == ready_ns(single) and len(made[label].null) == len(single.null) == nulls


@pytest.mark.parametrize("parallel", [1, 2, 8])
def test_one_boot_settles_what_is_inside_and_what_is_broken_whatever_the_cores(parallel: int, tmp_path: Path) -> None:
    """With idle cores further seeds may boot, and count only where they would have been booted anyway."""
    system = replayed(
        tmp_path,
        answer("fast", later_ns=-5 * MS),
        answer("slow", later_ns=5 * MS),
        answer("wrong", end="hung"),
        # Not seen: the first boot has settled it.
        answer({"kernel.cmdline": r"\bidle\b", "seed": "^[23]$"}, later_ns=-5 * MS),
        answer({"kernel.cmdline": r"\bwrong\b", "seed": "^[23]$"}, end="target died"),
    )
    booted = Booted()
    boots = boots_of(tmp_path, system, booted, parallel=parallel)
    base = boots.family("base", system, nulls=5)
    systems = {name: system.with_cmdline(name) for name in ("fast", "idle", "wrong", "slow")}
    contests = boots.contest(systems, base, system)
    assert {name: len(after.members) for name, (after, _) in contests.items()} == {
        "fast": 3, "idle": 1, "wrong": 1, "slow": 3,
    }  # fmt: skip
    assert all(before == base for _, before in contests.values())
    assert ready_ns(contests["idle"][0]) == [READY_NS]
    failed = contests["wrong"][0].failed
    assert failed is not None and failed.outcome == "hung"
    assert ("idle-s2" in booted.labels) is (parallel == 8), "two seeds of each of four, on eight cores"
    if parallel == 1:
        assert booted.labels[8:] == [
            "fast-s1", "idle-s1", "wrong-s1", "slow-s1", "fast-s2", "fast-s3", "slow-s2", "slow-s3",
            "fast-fresh1-s4", "fast-fresh2-s5", "slow-fresh1-s4", "slow-fresh2-s5",
        ]  # fmt: skip


def test_the_bounds_of_the_null_family_are_inside(tmp_path: Path) -> None:
    """A boot as short as the shortest null change is no shorter than nothing."""
    system = replayed(
        tmp_path, answer("at", later_ns=-20_000), answer("beyond", later_ns=-20_001), answer("above", later_ns=30_021)
    )
    boots = boots_of(tmp_path, system, Booted())
    base = boots.family("base", system, nulls=5)
    contests = boots.contest({name: system.with_cmdline(name) for name in ("at", "beyond", "above")}, base, system)
    assert {name: len(after.members) for name, (after, _) in contests.items()} == {"at": 1, "beyond": 3, "above": 3}


def test_on_the_wall_clock_both_sides_boot_in_turn(tmp_path: Path) -> None:
    """A host that slows down meanwhile slows both; each contest has a side before of its own, and no null change."""
    system = replayed(tmp_path, answer("fast", later_ns=-5 * MS), clock="wall")
    booted = Booted()
    boots = families(engine(new_run(tmp_path), parallel=4, watcher=booted), system, seeds=[7, 8, 9])
    base = boots.family("base", system, nulls=0)
    assert boots.with_nulls(base, "nulls", system, 5) is base
    del booted.labels[:]
    contests = boots.contest({name: system.with_cmdline(name) for name in ("fast", "idle")}, base, system)
    one_by_one = [f"{side}-{number}" for number in (1, 2, 3) for side in ("before", "after")]
    assert booted.labels == [f"{name}-{turn}" for name in ("fast", "idle") for turn in one_by_one]
    after, before = contests["fast"]
    assert [record.seed for record in after.members] == [record.seed for record in before.members] == [1, 2, 3]
    for late, early in zip(before.members, after.members, strict=True):
        assert late.ready_ns is not None and early.ready_ns == late.ready_ns - 5 * MS
    assert contests["idle"][1] is not base


def test_what_is_to_boot_is_made_once_and_a_kernel_s_build_counts_once(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("built", build_s=90), answer("unbuilt", unbuilt="make failed"))
    boots = boots_of(tmp_path, system, Booted())
    built = system.with_cmdline("built")
    assert boots.prepare(built) is boots.prepare(built, "another")
    boots.family("built", built, nulls=0)
    assert (boots.built, boots.build_s) == (1, 90)
    boots.prepare(system)
    with pytest.raises(BuildFailed, match="make failed"):
        boots.prepare(system.with_cmdline("unbuilt"))
    assert (boots.built, boots.build_s) == (1, 90)


def said(contest: Contest) -> Verdict:
    after, before = contest
    judged = judgement(before, after, wall=False)
    assert judged.wants == (0, 0)
    return judged.verdict


def contested(folder: Path, booted: Booted, *names: str, answers: tuple[Answer, ...]) -> dict[str, Contest]:
    """Boot the recorded system, and against it with each of `names` on its command line."""
    system = replayed(folder, *answers)
    boots = boots_of(folder, system, booted)
    base = boots.family("base", system, nulls=5)
    return boots.contest({name: system.with_cmdline(name) for name in names}, base, system)


def null_words(booted: Booted, label: str) -> list[str]:
    """Return the last word of the command line of each boot whose label begins so."""
    return [system.kernel.cmdline.split()[-1] for one, system in booted.systems.items() if one.startswith(label)]


def test_a_plain_difference_takes_two_fresh_boots_and_no_more(tmp_path: Path) -> None:
    """Another seed and another null word than any boot before: five boots with the change are there then."""
    booted = Booted()
    contests = contested(tmp_path, booted, "plain", "idle", answers=(PLAIN,))
    assert said(contests["plain"]) is Verdict.SHORTER
    assert booted.of("plain-") == ["s1", "s2", "s3", "fresh1-s4", "fresh2-s5"]
    assert null_words(booted, "plain-fresh") == ["bootlab.null=101", "bootlab.null=102"]
    assert [booted.systems[f"plain-fresh{number}-s{seed}"].seed for number, seed in ((1, 4), (2, 5))] == [4, 5]
    assert booted.of("base-fresh") == []
    assert booted.of("idle-") == ["s1"]


def test_a_near_difference_takes_eight_fresh_boots_before_and_five_after(tmp_path: Path) -> None:
    booted = Booted()
    contests = contested(tmp_path, booted, "near", answers=(NEAR,))
    assert said(contests["near"]) is Verdict.SHORTER
    assert booted.of("base-fresh") == NEAR_FRESH
    assert null_words(booted, "base-fresh") == [f"bootlab.null={100 + number}" for number in range(1, 9)]
    assert booted.of("near-fresh") == NEAR_FRESH[:5]
    assert null_words(booted, "near-fresh") == [f"bootlab.null={100 + number}" for number in range(1, 6)]
    after, before = contests["near"]
    assert [record.seed for record in before.fresh] == list(range(4, 12))
    assert judgement(before, after, wall=False).saved_ns == 100_000


def test_a_longer_boot_is_confirmed_alike(tmp_path: Path) -> None:
    booted = Booted()
    contests = contested(tmp_path, booted, "late", answers=(answer("late", later_ns=100_000),))
    assert said(contests["late"]) is Verdict.LONGER
    assert (len(booted.of("base-fresh")), len(booted.of("late-fresh"))) == (8, 5)


def test_what_fresh_boots_do_not_show_again_is_no_difference(tmp_path: Path) -> None:
    """The seeds were lucky: with other seeds and null words the change saves nothing, and that is what it saves."""
    lucky = answer({"kernel.cmdline": r"\bnear\b.*bootlab\.null=10\d"}, later_ns=100_000)
    contests = contested(tmp_path, Booted(), "near", answers=(NEAR, lucky))
    assert said(contests["near"]) is Verdict.NO_DIFFERENCE_SHOWN
    after, before = contests["near"]
    assert judgement(before, after, wall=False).saved_ns == 0


def test_the_fresh_boots_before_are_shared_by_all_that_are_compared_with_it(tmp_path: Path) -> None:
    booted = Booted()
    names = ("near", "plain", "also", "idle")
    contests = contested(tmp_path, booted, *names, answers=(NEAR, PLAIN, answer("also", later_ns=-90_000)))
    assert booted.of("base-fresh") == NEAR_FRESH, "once"
    assert {name: len(after.fresh) for name, (after, _) in contests.items()} == {
        "near": 5, "plain": 2, "also": 5, "idle": 0,
    }  # fmt: skip
    assert {len(before.fresh) for _, before in contests.values()} == {8}
    assert {name: said(contest).value for name, contest in contests.items()} == {
        "near": "shorter", "plain": "shorter", "also": "shorter", "idle": "no difference shown",
    }  # fmt: skip


def test_a_difference_that_fresh_boots_before_make_near_is_confirmed_as_a_near_one(tmp_path: Path) -> None:
    """Six spreads of what was seen at first, and less than five of what the system does when it boots more often."""
    booted = Booted()
    wider = answer({"seed": "^11$"}, later_ns=70_000)
    answers = (NEAR, answer("some", later_ns=-305_000), wider)
    contests = contested(tmp_path, booted, "near", "some", answers=answers)
    assert said(contests["some"]) is Verdict.SHORTER
    assert booted.of("some-fresh") == NEAR_FRESH[:5]
    alone = Booted()
    contested(tmp_path / "alone", alone, "some", answers=answers)
    assert (alone.of("some-fresh"), alone.of("base-fresh")) == (NEAR_FRESH[:2], [])


def test_a_plain_difference_that_a_fresh_boot_falls_back_from_is_confirmed_as_a_near_one(tmp_path: Path) -> None:
    booted = Booted()
    back = answer({"kernel.cmdline": r"\bplain\b.*bootlab\.null=102"}, later_ns=6 * MS)
    contests = contested(tmp_path, booted, "plain", answers=(PLAIN, back))
    assert (booted.of("base-fresh"), booted.of("plain-fresh")) == (NEAR_FRESH, NEAR_FRESH[:5])
    assert said(contests["plain"]) is Verdict.NO_DIFFERENCE_SHOWN, "one of five is longer than all before"


def kernels(folder: Path, booted: Booted, *answers: Answer, **options: str) -> dict[str, Contest]:
    """Boot a system with a kernel of its own, and against it with each option of the kernel off, one at a time."""
    system = own_kernel(replayed(folder, NEAR, *answers))
    boots = boots_of(folder, system, booted)
    base = boots.family("base", system, nulls=5)
    systems = {name: system.with_options(**{option: "n"}) for name, option in options.items()}
    return boots.contest({"near": system.with_cmdline("near"), **systems}, base, system)


def off(option: str, **said: object) -> Answer:
    return answer({"kernel.build": rf'"{option}": "n"'}, **said)


def in_turns(first: int, last: int) -> list[str]:
    return [f"{number}-build{(number - 1) % 2 + 1}-s{number + 3}" for number in range(first, last + 1)]


def test_a_near_difference_of_two_kernels_is_confirmed_with_null_builds_of_both(tmp_path: Path) -> None:
    """Builds that differ in their names are what another build does by chance. Other techniques have none of them."""
    booted = Booted()
    contests = kernels(tmp_path, booted, off("SMP", later_ns=-100_000), off("BUG"), smp="SMP", bug="BUG")
    assert {name: said(contest).value for name, contest in contests.items()} == {
        "near": "shorter", "smp": "shorter", "bug": "no difference shown",
    }  # fmt: skip
    assert booted.of("base-fresh") == [*NEAR_FRESH, *in_turns(1, 8)]
    assert booted.of("smp-fresh") == in_turns(1, 5)
    assert booted.of("near-fresh") == NEAR_FRESH[:5]
    named = {
        label: system.kernel.build.options.get("LOCALVERSION")
        for label, system in booted.systems.items()
        if system.kernel.build is not None
    }
    assert {label: name for label, name in named.items() if name is not None} == {
        f"{side}-fresh{end}": f"-null-build{(number - 1) % 2 + 1}"
        for side, last in (("base", 8), ("smp", 5))
        for number, end in enumerate(in_turns(1, last), 1)
    }


def test_a_plain_difference_of_two_kernels_takes_no_null_build(tmp_path: Path) -> None:
    booted = Booted()
    contests = kernels(tmp_path, booted, off("SMP", later_ns=-5 * MS), smp="SMP")
    assert said(contests["smp"]) is Verdict.SHORTER
    assert booted.of("smp-fresh") == NEAR_FRESH[:2]
    assert not [label for label in booted.labels if "-build" in label]


def test_a_kernel_whose_difference_turns_near_late_has_null_builds_too(tmp_path: Path) -> None:
    """The side before has its fresh boots by then: those of the changed kernel must be of the same kind."""
    booted = Booted()
    lately = answer({"kernel.build": "LOCALVERSION", "seed": "^11$"}, later_ns=70_000)
    contests = kernels(
        tmp_path, booted, off("SMP", later_ns=-100_000), off("BUG", later_ns=-305_000), lately, smp="SMP", bug="BUG"
    )
    assert said(contests["bug"]) is Verdict.SHORTER
    assert booted.of("bug-fresh") == [*NEAR_FRESH[:2], *in_turns(3, 5)]


def test_null_builds_can_be_left_out(tmp_path: Path) -> None:
    system, booted = own_kernel(replayed(tmp_path, off("SMP", later_ns=-100_000))), Booted()
    boots = boots_of(tmp_path, system, booted)
    base = boots.family("base", system, nulls=5)
    smp = system.with_options(SMP="n")
    after = boots.family("smp", smp, nulls=0)
    contest = boots.confirm({"smp": (smp, after)}, base, system, null_builds=False)["smp"]
    assert said(contest) is Verdict.SHORTER
    assert (booted.of("base-fresh"), booted.of("smp-fresh")) == (NEAR_FRESH, NEAR_FRESH[:5])


@pytest.mark.parametrize(("side", "failed"), [(r"\bnear\b.*", 0), (r"^(?!.*\bnear\b).*", 1)])
def test_a_fresh_boot_that_fails_ends_the_contest(side: str, failed: int, tmp_path: Path) -> None:
    contests = contested(
        tmp_path, Booted(), "near", answers=(NEAR, answer({"kernel.cmdline": rf"{side}bootlab\.null=103"}, end="hung"))
    )
    boots = contests["near"][failed]
    assert boots.failed is not None and boots.failed.outcome == "hung" and boots.failed in boots.fresh
    assert contests["near"][1 - failed].failed is None


def test_boots_on_record_get_no_others_beside_them(tmp_path: Path) -> None:
    """What is plain needs none of them; what is near stays as it was seen, and wants them."""
    system, booted = replayed(tmp_path, PLAIN, NEAR), Booted()
    boots = boots_of(tmp_path, system, booted)
    base = boots.family("base", system, nulls=5)
    changed = {name: system.with_cmdline(name) for name in ("plain", "near")}
    after = {name: (one, boots.family(name, one, nulls=0)) for name, one in changed.items()}
    contests = boots.confirm(after, base, None)
    assert said(contests["plain"]) is Verdict.SHORTER
    assert booted.of("plain-fresh") == NEAR_FRESH[:2]
    judged = judgement(base, contests["near"][0], wall=False)
    assert (judged.verdict, judged.wants) == (Verdict.NO_DIFFERENCE_SHOWN, (8, 5))
    assert booted.of("near-fresh") == booted.of("base-fresh") == []
