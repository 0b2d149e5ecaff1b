"""What services did for nothing: sleeps, settling, modprobe, units that the goal does not need."""

from bootlab.findings.audit.finding import Finding


def test_who_settled_slept_and_had_modules_loaded(findings: dict[str, Finding]) -> None:
    (settle,) = findings["settle waits"].items
    assert settle.what == "/bin/udevadm settle --timeout=5, run by /sbin/init"
    assert (settle.cost_ns, settle.lasted_ns) == (70_000, 70_000)
    (sleep,) = findings["sleeps in scripts"].items
    assert sleep.what == "sleep 1, run by late"
    assert sleep.lasted_ns == 5_015_000 and findings["sleeps in scripts"].idle_ns == 5_000_000
    (modprobe,) = findings["modprobe calls"].items
    assert (modprobe.what, modprobe.cost_ns) == ("1 by late (/etc/init.d/late start)", 400_000)


def test_units_that_the_goal_does_not_wait_for(findings: dict[str, Finding]) -> None:
    found = findings["units the goal does not need"]
    assert [item.what for item in found.items] == ["late"]
    assert found.cost_ns == 82_000 + 10_000 + 5_000 + 400_000 + 5_000_000
    assert found.technique == "cmdline_units_masked"
