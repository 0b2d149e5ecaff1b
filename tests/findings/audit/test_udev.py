"""What udev's rules did: those that fork, those with errors."""

from bootlab.findings.audit.finding import Finding


def test_a_rule_that_forks_is_named_with_what_it_started(findings: dict[str, Finding]) -> None:
    (item,) = findings["udev rules that fork"].items
    assert (item.what, item.cost_ns) == ("1 x /lib/udev/helper", 500_000)
    assert item.detail == "/usr/lib/udev/rules.d/50-a.rules:1 IMPORT{program}"
    (bad,) = findings["udev rules with errors"].items
    assert bad.what == "/usr/lib/udev/rules.d/50-a.rules:2"
