"""What would not happen without a package, what goes along, and why a package is kept."""

import pytest

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.process_costs import TaskCost
from bootlab.findings.packages.owner import Owner, OwnerKind
from bootlab.findings.packages.removal import NOTHING_RAN, Removals, packages_of
from bootlab.findings.packages.stretches import own_time
from tests.findings.packages.told_packages import ARCHIVE, owners_of

LATE = TaskCost(82_000 + 10_000 + 5_000 + 400_000, 5_000_000)
"""The script, the sleep and the modprobe that it ran."""


def removals_of(evidence: AuditedBoot, *, archive_goes: bool = False) -> Removals:
    owners = owners_of(archive=ARCHIVE if archive_goes else None)
    owned = own_time(evidence.costs, evidence.tree, evidence.analysis.waits.idles, owners)
    return Removals(evidence, owned, owners, archive_goes=archive_goes)


@pytest.fixture(scope="module")
def removals(evidence: AuditedBoot) -> Removals:
    return removals_of(evidence)


def test_with_a_package_go_its_unit_and_all_that_this_started(removals: Removals) -> None:
    assert removals.gone(["late"]) == LATE
    assert removals.gone(["kmod"]) == TaskCost(400_000)
    # What both take along is counted once.
    assert removals.gone(["late", "kmod"]) == LATE
    assert removals.gone(["idle"]) == removals.gone([]) == TaskCost()


def test_what_needs_a_package_goes_along(removals: Removals) -> None:
    assert removals.with_them(["sound"]) == {"late"}
    assert removals.why_kept("sound") == NOTHING_RAN
    assert removals.gone(["sound", *removals.with_them(["sound"])]) == LATE


def test_its_share_of_unpacking_goes_where_the_initramfs_is_made_anew(evidence: AuditedBoot) -> None:
    assert removals_of(evidence, archive_goes=True).gone(["kmod"]) == TaskCost(900_000)
    assert removals_of(evidence, archive_goes=True).gone(["goal", "kmod"]).ns > 900_000


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("dash", "essential"),
        ("sysvinit", "it is the first process"),
        ("linux-image", "its modules were loaded"),
        ("goal", "its unit is the goal"),
        ("libudev1", NOTHING_RAN),
        ("late", ""),
        ("kmod", ""),
    ],
)
def test_what_is_kept_has_its_reason(removals: Removals, name: str, why: str) -> None:
    assert removals.why_kept(name) == why


def test_units_and_modules_are_those_of_the_package(removals: Removals) -> None:
    assert {name: [unit.name for unit in units] for name, units in removals.units.items()} == {
        "late": ["late"],
        "goal": ["goal"],
    }
    assert removals.modules == {"linux-image": {"floppy", "virtio_blk"}}


def test_an_owner_stands_for_its_packages() -> None:
    assert packages_of(Owner(OwnerKind.SHARED, "a, b")) == ("a", "b")
    assert packages_of(Owner(OwnerKind.PACKAGE, "a")) == ("a",)
    assert packages_of(Owner(OwnerKind.KERNEL)) == ()
