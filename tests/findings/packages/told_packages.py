"""The boot that is told by who runs (tests/findings/audit/told_boot.py), with the packages that its programs are of."""

import stat
from pathlib import Path

from bootlab.build.debian.installed_packages import read_installed_packages
from bootlab.build.formats.cpio import Entry
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.build.units.plan import InitPlan
from bootlab.findings.audit.audited_boot import AuditedBoot, find_goal
from bootlab.findings.audit.process_costs import TaskCosts
from bootlab.findings.packages.file_owners import FileOwners
from tests.build.debian.debian_root_files import DebianRootFiles, Installed
from tests.findings.audit.told_boot import PLAN, Story, analysis_of_the_boot

HOOK = b"#!/bin/sh\n# a hook of udev's in the initramfs\n"
PACKAGES = {
    "sysvinit": Installed(["/sbin/init"]),
    "udev": Installed(
        ["/lib/systemd/systemd-udevd", "/bin/udevadm", "/lib/udev/helper", "/usr/share/initramfs-tools/hook"],
        ["Depends: libudev1"],
    ),
    "libudev1": Installed(["/lib/libudev.so.1"]),
    "late": Installed(["/etc/init.d/late", "/etc/late"], ["Depends: sound"]),
    "sound": Installed(["/usr/share/sound/alsa.conf"]),
    "kmod": Installed(["/sbin/modprobe"]),
    "linux-image": Installed(["/lib/modules/6.1/virtio_blk.ko", "/lib/modules/6.1/floppy.ko"]),
    "goal": Installed(["/usr/bin/goal", "/etc/goal"]),
    "dash": Installed(["/bin/dash"], ["Essential: yes"]),
    "coreutils": Installed(["/bin/sleep"]),
    "idle": Installed(["/usr/bin/idle"]),
}
ROOT = DebianRootFiles(
    PACKAGES,
    {
        "usr/share/initramfs-tools/hook": HOOK,
        "usr/lib/modules/6.1/virtio_blk.ko": b"",
        "usr/lib/modules/6.1/floppy.ko": b"",
    },
    {"usr/bin/sh": "dash"},
)
ARCHIVE = [
    Entry("scripts/init-top/udev", stat.S_IFREG | 0o755, HOOK),
    Entry("usr/sbin/modprobe", stat.S_IFREG | 0o755, bytes(len(HOOK) * 2)),
    Entry("conf/param.conf", stat.S_IFREG | 0o644, bytes(len(HOOK))),
]


def owners_of(root: DebianRootFiles = ROOT, archive: list[Entry] | None = None) -> FileOwners:
    """Return whose the files of a root are, and of an initramfs before it."""
    return FileOwners(read_installed_packages(FollowedPaths(root.entries()), "made-up"), archive)


def evidence_of(folder: Path, story: Story | None = None, plan: InitPlan = PLAN) -> AuditedBoot:
    """Return the told boot, or another one, as an audit looks at it."""
    analysis = analysis_of_the_boot(folder, story)
    costs = TaskCosts(analysis)
    rootfs = ROOT.entries()
    return AuditedBoot(analysis, costs, None, rootfs, plan, find_goal(costs, plan, "up"), {}, {})
