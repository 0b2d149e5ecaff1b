"""The rows of one boot: they add up to it, those that can be removed come first, and doubts are told."""

from dataclasses import replace

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.packages.owner import OwnerKind
from bootlab.findings.packages.package_costs import PackageCosts, cost_packages
from tests.findings.packages.told_packages import ARCHIVE, owners_of


def costs_of(evidence: AuditedBoot) -> PackageCosts:
    return cost_packages(evidence, owners_of(archive=ARCHIVE), archive_goes=True).costs


def test_the_rows_are_the_whole_boot(evidence: AuditedBoot) -> None:
    costs = costs_of(evidence)
    assert costs.sum_ns == costs.total_ns == evidence.costs.until_ns
    assert costs.installed == 11 and costs.silent == ["coreutils", "dash", "idle", "libudev1", "sound"]
    assert costs.goal == "goal"


def test_what_can_be_removed_comes_first_by_what_goes_with_it(evidence: AuditedBoot) -> None:
    costs = costs_of(evidence)
    ranked = [(row.name, row.gone_ns) for row in costs.removable]
    # udev's own time, the half of unpacking that kmod's file is, and so on: all measured in the told boot.
    assert ranked == [("late", 5_497_000), ("udev", 2_122_000), ("kmod", 900_000)]
    assert [row.name for row in costs.rows[:3]] == ["late", "udev", "kmod"]
    late = costs.rows[0]
    assert (late.cost_ns, late.gone_idle_ns, late.units, late.processes) == (82_000, 5_000_000, ["late"], 1)
    assert late.programs == ["/etc/init.d/late"] and late.kept == "" and late.along == []
    assert {row.kind for row in costs.rows[-4:]} >= {OwnerKind.KERNEL, OwnerKind.UNKNOWN, OwnerKind.STAGE}


def test_a_row_tells_modules_and_the_files_in_the_initramfs(evidence: AuditedBoot) -> None:
    rows = {row.name: row for row in costs_of(evidence).rows}
    image = rows["linux-image"]
    # load_module() cost the worker of udev 500,000 ns for each; that is in udev's row.
    assert (image.modules, image.modules_ns, image.cost_ns) == (["floppy", "virtio_blk"], 1_000_000, 0)
    assert (rows["kmod"].initramfs_files, rows["kmod"].unpacking_ns) == (1, 500_000)


def test_what_is_not_known_is_told(evidence: AuditedBoot) -> None:
    doubts = costs_of(replace(evidence, goal=None)).doubts
    assert doubts == [
        "the profile has no paths: which files were read is not known (bootlab profile --paths)",
        "what the boot is for is not known: --goal UNIT keeps what that needs",
    ]
