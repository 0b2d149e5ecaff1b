"""The login window first: what it needs of a desktop's init scripts, by bootlab-init and by Debian's insserv."""

import platform
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.packages import fetch_all
from bootlab.build.units.plan import InitPlan, read_plan
from bootlab.build.workshop import Workshop
from tests.boot.init.scripts.insserv import Insserv, lay_out, order

pytestmark = [
    pytest.mark.network,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="runs insserv of Debian for x86_64"),
]

DESKTOP = """
acpid alsa-utils anacron apparmor at autofs avahi-daemon binfmt-support bluez console-setup-linux cpufrequtils cron
cryptsetup cups-browsed cups-daemon dbus elogind exim4-base fancontrol haveged hdparm ifupdown initscripts irqbalance
keyboard-configuration kmod lightdm lm-sensors lvm2 mdadm minissdpd nfs-common nfs-kernel-server ntpsec openssh-server
plymouth procps rpcbind rsync rsyslog samba sane-utils smartmontools sudo sysstat udev ufw unattended-upgrades
util-linux-extra uuid-runtime winbind x11-common xdm
""".split()
"""Packages of init-scripts/packages.txt, as a desktop has them."""
LOCAL = "/dev/sda / ext4 defaults 0 1\n"
HOMES = LOCAL + "server:/home /home nfs defaults 0 0\n"


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Insserv]:
    root = tmp_path_factory.mktemp("desktop") / "root"
    *packages, insserv = fetch_all(Workshop(Cache.default()), [*DESKTOP, "insserv"], "bookworm", "x86_64")
    told = order(insserv, root, lay_out(packages, root))
    (root / "etc/bootlab").mkdir()
    return root, told


def plan_of(root: Path, goal: str, fstab: str, *, early: bool) -> InitPlan:
    (root / "etc/fstab").write_text(fstab)
    (root / "etc/bootlab/init.conf").write_text(f"early {'yes' if early else 'no'}\n")
    return read_plan(root, Cache.default(), [goal])


def counted(plan: InitPlan) -> tuple[set[str], int]:
    """Return what the goal needs, and how many units are started in all."""
    started = [unit for unit in plan.units if unit.wanted and unit.is_work and not unit.broken]
    return {Path(unit.path).name for unit in started if unit.goal}, len(started)


@pytest.mark.parametrize("goal", ["lightdm", "xdm"])
def test_the_login_window_needs_a_third_of_the_scripts_at_most(desktop: tuple[Path, Insserv], goal: str) -> None:
    root, insserv = desktop
    homes, of_homes = counted(plan_of(root, goal, HOMES, early=False))
    local, of_local = counted(plan_of(root, goal, LOCAL, early=False))
    built_in, of_built_in = counted(plan_of(root, goal, LOCAL, early=True))
    print(f"{goal}: {len(homes)} of {of_homes}; no network file systems: {len(local)} of {of_local}; ", end="")
    print(f"built-in early boot: {len(built_in)} of {of_built_in}: {' '.join(sorted(built_in))}")
    # Nothing that insserv has start before it is left out.
    assert {goal} | insserv.at_start[goal] <= homes
    assert built_in < local < homes
    assert len(homes) * 5 < of_homes * 2 and len(built_in) * 5 < of_built_in
    assert not {"rpcbind", "nfs-common"} & local and {"rpcbind", "nfs-common"} <= homes
    assert not {"cron", "cups", "exim4", "samba-ad-dc", "ssh"} & homes
