"""Families of boots: which seeds and null changes boot, when one boot is enough, and the order on the wall clock."""

from pathlib import Path

import pytest

from bootlab.build.source.make import BuildFailed
from bootlab.experiments.family import Family
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.system import System
from tests.replayed import READY_NS, Booted, answer, engine, families, new_run, replayed

MS = 1_000_000


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
    assert max(family.null_ns) - min(family.null_ns) == 50_020, "over all of them"


def test_null_changes_are_booted_where_too_few_are_there(tmp_path: Path) -> None:
    system, booted = replayed(tmp_path), Booted()
    boots = boots_of(tmp_path, system, booted)
    family = boots.family("base", system, nulls=1)
    assert boots.with_nulls(family, "more", system, 1) is family
    more = boots.with_nulls(family, "more", system, 3)
    assert (len(more.null), more.members) == (3, family.members)
    assert booted.of("more-") == ["null2-s2", "null3-s3"], "and the first is on record"


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
    assert all(before is base for _, before in contests.values())
    assert ready_ns(contests["idle"][0]) == [READY_NS]
    failed = contests["wrong"][0].failed
    assert failed is not None and failed.outcome == "hung"
    assert ("idle-s2" in booted.labels) is (parallel == 8), "two seeds of each of four, on eight cores"
    if parallel == 1:
        assert booted.labels[8:] == [
            "fast-s1", "idle-s1", "wrong-s1", "slow-s1", "fast-s2", "fast-s3", "slow-s2", "slow-s3",
        ]  # fmt: skip


def test_the_bounds_of_the_null_family_are_inside(tmp_path: Path) -> None:
    """A boot as fast as the fastest null change is no faster than nothing."""
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
