"""A unit that takes the lock of network devices at idle priority, and who reads a card's attributes meanwhile."""

import stat
from dataclasses import replace

import pytest

from bootlab.build.formats.cpio import Entry
from bootlab.build.units.plan import InitPlan, PlannedUnit
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding
from bootlab.findings.audit.idle_priority import find_idle_locks
from bootlab.findings.audit.process_costs import TaskCosts
from tests.findings.audit.told_boot import Story, analysis_of_the_boot

PATH = "usr/lib/systemd/system/reap.service"
# As Debian's e2scrub_reap.service has them.
UNIT = "[Service]\nPrivateNetwork=true\nIOSchedulingClass=idle\nCPUSchedulingPolicy=idle\n"
READS = "entry_SYSCALL_64;phys_port_name_show;rtnl_trylock"


def unit(*, wanted: bool = True) -> PlannedUnit:
    return PlannedUnit("reap", f"/{PATH}", "systemd", True, wanted, False, False, (("start", "/sbin/reap"),))


def entries(**files: str) -> list[Entry]:
    paths = {"unit": PATH, "elsewhere": "etc/systemd/system/reap.service.d/mine.conf", "other": "etc/reap.service"}
    return [Entry(paths[name], stat.S_IFREG, text.encode()) for name, text in files.items()]


@pytest.fixture(scope="module")
def held_up(tmp_path_factory: pytest.TempPathFactory) -> AuditedBoot:
    """A boot in which a worker of udev tried 5,000 times before ready, and one of ifupdown twice."""
    story = Story()
    init = story.start(story.idler, "systemd", 1, "/sbin/init")
    reap = story.start(init, "reap", 9, "/sbin/reap")
    story.run(reap, 7_000)
    for name, pid, calls in (("(udev-worker)", 10, 5_000), ("ip", 11, 2)):
        reader = story.start(init, name, pid, f"/bin/{name}")
        story.to(reader)
        story.spend(f"{name}-{pid};{READS}", 100 * calls, calls)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    story.spend(f"ip-11;{READS}", 1_000, 900)
    analysis = analysis_of_the_boot(tmp_path_factory.mktemp("held-up"), story)
    return AuditedBoot(analysis, TaskCosts(analysis), rootfs=entries(unit=UNIT), plan=InitPlan((unit(),), (), ()))


def found(held_up: AuditedBoot, **files: str) -> Finding | None:
    return find_idle_locks(replace(held_up, rootfs=entries(**files)))


def test_the_unit_is_named_and_who_tried_again_and_again(held_up: AuditedBoot) -> None:
    told = find_idle_locks(held_up)
    assert told is not None and told.technique is None
    assert told.what.startswith("1 units make a network namespace at idle priority; 5000 reads")
    assert [(item.what, item.cost_ns, item.detail) for item in told.items] == [
        ("reap", 7_000, f"/{PATH}"),
        ("(udev-worker)-10: phys_port_name_show", None, "begun anew 5000 times"),
    ]


@pytest.mark.parametrize("setting", ["PrivateNetwork=no", "CPUSchedulingPolicy=other"])
def test_a_drop_in_takes_the_chance_out(held_up: AuditedBoot, setting: str) -> None:
    assert found(held_up, unit=UNIT, elsewhere=f"[Service]\n{setting}\n") is None
    # Whatever else lies under that name is no drop-in.
    assert found(held_up, unit=UNIT, other=f"[Service]\n{setting}\n") is not None
    assert found(held_up, elsewhere=f"[Service]\n{setting}\n") is None


def test_a_drop_in_may_bring_it_in(held_up: AuditedBoot) -> None:
    assert found(held_up, unit="[Service]\nPrivateNetwork=yes\n") is None
    assert found(held_up, unit="[Service]\nPrivateNetwork=yes\n", elsewhere="CPUSchedulingPolicy=idle\n") is not None


def test_a_unit_that_is_not_started_holds_nothing(held_up: AuditedBoot) -> None:
    assert find_idle_locks(replace(held_up, plan=InitPlan((unit(wanted=False),), (), ()))) is None
    assert find_idle_locks(replace(held_up, plan=None)) is None
