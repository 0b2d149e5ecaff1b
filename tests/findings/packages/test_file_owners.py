"""Whose a file is: by its path in the root, by its content in the initramfs, and when the one gave way to the other."""

import stat
from dataclasses import replace

import pytest

from bootlab.build.formats.cpio import Entry
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.packages.owner import UNKNOWN, Owner, OwnerKind
from bootlab.profile.tables.processes import Process
from tests.findings.packages.told_packages import ARCHIVE, HOOK, ROOT, owners_of


def _package(name: str) -> Owner:
    return Owner(OwnerKind.PACKAGE, name)


def test_a_hook_in_the_initramfs_is_known_by_its_content_and_a_program_by_its_path() -> None:
    owners = owners_of(archive=ARCHIVE)
    assert owners.owner("/scripts/init-top/udev", early=True) == _package("udev")
    assert owners.owner("/usr/sbin/modprobe", early=True) == _package("kmod")
    assert owners.owner("/conf/param.conf", early=True) == Owner(OwnerKind.UNPACKAGED, "/conf/param.conf")
    # Made as it boots: in no archive, and so nobody's that is known.
    assert owners.owner("/bin/insmod", early=True) == UNKNOWN
    assert owners.owner("relative", early=False) == UNKNOWN
    assert owners.owner("/bin/sh", early=False) == _package("dash")


def test_text_that_several_packages_have_belongs_to_all_of_them() -> None:
    root = replace(ROOT, contents={**ROOT.contents, "usr/bin/goal": HOOK})
    owners = owners_of(root, ARCHIVE)
    assert owners.owner("/scripts/init-top/udev", early=True) == Owner(OwnerKind.SHARED, "goal, udev")


def test_the_files_of_the_initramfs_are_counted_once_each() -> None:
    linked = [replace(ARCHIVE[1], linked="one"), replace(ARCHIVE[1], path="usr/sbin/insmod", linked="one")]
    owners = owners_of(archive=[ARCHIVE[0], *linked, ARCHIVE[2]])
    assert {owner.name: [one.path for one in files] for owner, files in owners.archive_files.items()} == {
        "udev": ["scripts/init-top/udev"],
        "kmod": ["usr/sbin/modprobe"],
        "of the initramfs": ["conf/param.conf"],
    }
    assert owners_of().archive_files == {}


def test_files_have_sizes_and_folders_are_none() -> None:
    owners = owners_of(archive=ARCHIVE)
    assert owners.file("/scripts/init-top/udev", early=True) == ("scripts/init-top/udev", len(HOOK))
    assert owners.file("/usr/bin", early=False) is None and owners.file("/usr/bin/none", early=False) is None
    assert owners.has("/bin/sh", early=False)


@pytest.mark.parametrize(
    ("programs", "switched"),
    [
        (["/init", "/usr/bin/run-init", "/sbin/init", "/usr/bin/goal"], 30),
        (["/init", "/sbin/init"], 20),
        (["/init"], 1 << 63),
        ([], 1 << 63),
        (["/sbin/init", "/usr/bin/goal"], 0),
    ],
)
def test_the_initramfs_is_left_when_the_first_process_says_so(
    evidence: AuditedBoot, programs: list[str], switched: int
) -> None:
    some: Process = next(iter(evidence.costs.processes.values()))
    first = replace(some, programs=tuple((10 * number, path) for number, path in enumerate(programs, 1)))
    assert owners_of(archive=ARCHIVE).switched_ns(first) == switched
    assert owners_of().switched_ns(first) == 0


def test_an_empty_file_is_nobodys_by_its_content() -> None:
    owners = owners_of(archive=[Entry("empty", stat.S_IFREG)])
    assert owners.owner("/empty", early=True) == Owner(OwnerKind.UNPACKAGED, "/empty")
