"""bootlab-init in place of an init system with scripts: it must be offered, and says that it is there."""

from collections.abc import Callable

from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.userspace.native_init import TELLS
from tests.techniques.asking import ALL, applied, why_not

CAR = read_system(EXAMPLES / "ivi.toml")


def test_a_root_that_offers_units_is_started_by_them(evidence: Callable[..., Evidence]) -> None:
    changed = applied("userspace_bootlab_init", CAR)
    assert changed.rootfs is not None and changed.rootfs.bootlab_init and changed.rootfs.texts == TELLS
    assert why_not("userspace_bootlab_init", changed) == "bootlab-init is the root's init already"
    other = CAR.with_cmdline("init=/bin/sh")
    assert "starts another init" in why_not("userspace_bootlab_init", other)
    bare = CAR.with_part("rootfs", files={})
    assert "offers no /etc/bootlab/init.conf" in why_not("userspace_bootlab_init", bare)
    assert "rootfs.init" in why_not("userspace_bootlab_init", CAR.with_part("rootfs", init=EXAMPLES / "ivi/init.conf"))
    assert "root file system" in why_not("userspace_bootlab_init", read_system(EXAMPLES / "embedded.toml"))
    prove = ALL["userspace_bootlab_init"].proof.prove
    scripts, units = evidence("Linux version 6.1"), evidence(process_1="/sbin/bootlab-init")
    assert prove(units, scripts) is Effect.PROVEN
    assert prove(scripts, units) is prove(units, units) is Effect.NOT_SHOWN
    assert prove(evidence(process_1="/sbin/init"), scripts) is Effect.NONE
