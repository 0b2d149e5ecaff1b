"""Whose the time of a boot was: all of it, each ns once; scripts, `sh -c`, programs by descriptor, the initramfs."""

from pathlib import Path

import pytest

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.process_costs import TaskCost
from bootlab.findings.packages.file_owners import FileOwners
from bootlab.findings.packages.owner import Owner, OwnerKind
from bootlab.findings.packages.stretches import OwnedTime, own_time
from bootlab.profile.recorded.record_types import EventKind
from tests.findings.audit.told_boot import Story
from tests.findings.packages.told_packages import ARCHIVE, evidence_of, owners_of


def owned_by(evidence: AuditedBoot, owners: FileOwners) -> OwnedTime:
    return own_time(evidence.costs, evidence.tree, evidence.analysis.waits.idles, owners)


def sums(owned: OwnedTime) -> dict[str, TaskCost]:
    """Return the cost of every owner by its name, or its kind where it has none."""
    found: dict[str, TaskCost] = {}
    parts = [(one.owner, one.cost) for one in owned.stretches]
    for owner, cost in [*parts, *owned.others.items(), *owned.unpacking.items()]:
        name = owner.name or owner.kind.name
        found[name] = found.get(name, TaskCost()) + cost
    return {name: cost for name, cost in found.items() if cost.ns}


def test_each_ns_belongs_to_one_and_all_of_them_are_the_boot(evidence: AuditedBoot) -> None:
    owned = owned_by(evidence, owners_of())
    assert owned.sum_ns == owned.total_ns == evidence.costs.until_ns
    found = sums(owned)
    assert found["firmware"] == TaskCost(100_000)
    # The script alone: what it had run is others'.
    assert found["late"] == TaskCost(82_000)
    assert found["kmod"] == TaskCost(400_000)
    assert found["goal"] == TaskCost(91_000)
    # sleep and bootlab-mark were executed by relative paths, which tell no file.
    assert found["UNKNOWN"] == TaskCost(30_000, 5_000_000)
    udevd, worker, helper, udevadm = (
        100_000 + 1_000 + 30_000,
        20_000 + 1_050_000 + 40_000 + 1_000 + 60_000,
        500_000,
        70_000,
    )
    assert found["udev"] == TaskCost(udevd + worker + helper + udevadm)
    assert found["sysvinit"] == TaskCost(1_000_000 + 4 * 1_000)
    assert found["KERNEL"] == TaskCost(101_000)


def test_unpacking_is_shared_by_the_bytes_of_whose_files_it_unpacked(evidence: AuditedBoot) -> None:
    owned = owned_by(evidence, owners_of(archive=ARCHIVE))
    assert owned.sum_ns == owned.total_ns
    shares = {owner.name: cost.ns for owner, cost in owned.unpacking.items()}
    assert shares == {"udev": 250_000, "kmod": 500_000, "of the initramfs": 250_000}


def _story(*processes: tuple[str, str, str]) -> Story:
    """Tell a boot in which the first process starts these, one after the other: command line, path, file it maps."""
    story = Story()
    init = story.start(story.idler, "init", 1, "/sbin/init")
    for number, (words, path, mapped) in enumerate(processes, 10):
        task = story.start(init, "child", number, words, path)
        if mapped:
            story.event(EventKind.MAP, task, f"child-{number};[user]", text=f"0 {mapped}")
        story.run(task, 1_000 * number)
        story.exits(task, init)
    story.run(init, 500)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    return story


@pytest.mark.parametrize(
    ("words", "path", "mapped", "owner"),
    [
        ("/bin/sh /etc/init.d/late start", "/etc/init.d/late", "/usr/bin/dash", "late"),
        ("sh -e /etc/init.d/late start", "/bin/sh", "", "late"),
        ("sh -ec exit", "/bin/sh", "", "sysvinit"),
        ("sh", "/bin/sh", "", "dash"),
        ("/usr/bin/perl -w /usr/bin/goal", "/usr/bin/perl", "", "goal"),
        ("/usr/bin/perl -e /usr/bin/goal", "/usr/bin/perl", "", "sysvinit"),
        ("sh /nowhere/script", "/bin/sh", "", "dash"),
        ("goal", "/proc/self/fd/3", "/usr/bin/goal", "goal"),
        ("goal", "goal", "/usr/bin/goal", "goal"),
        ("goal", "goal", "", "UNKNOWN"),
        ("/opt/x", "/opt/x", "/opt/x", "/opt/x"),
    ],
)
def test_a_program_is_its_packages_and_a_script_its_own(
    tmp_path: Path, words: str, path: str, mapped: str, owner: str
) -> None:
    evidence = evidence_of(tmp_path, _story((words, path, mapped)))
    owned = owned_by(evidence, owners_of())
    assert owned.sum_ns == owned.total_ns
    assert sums(owned)[owner].ns >= 10_000
    mine = [one for one in owned.stretches if one.path and one.cost.ns == 10_000]
    assert [one.owner.name or one.owner.kind.name for one in mine] == [owner]


def test_before_its_first_program_a_process_runs_what_its_maker_runs(tmp_path: Path) -> None:
    story = Story()
    init = story.start(story.idler, "init", 1, "/sbin/init")
    fork = story.start(init, "init", 9, "")
    story.run(fork, 7_000)
    story.event(EventKind.EXEC, fork, "init-9;[user]", text="/usr/bin/goal")
    story.run(fork, 3_000)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    owned = owned_by(evidence_of(tmp_path, story), owners_of())
    mine = [(one.owner, one.cost.ns) for one in owned.stretches if one.task == fork]
    assert mine == [(Owner(OwnerKind.PACKAGE, "sysvinit"), 7_000), (Owner(OwnerKind.PACKAGE, "goal"), 3_000)]
