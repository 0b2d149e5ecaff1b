"""An audit in Markdown: a row for each finding, what was not found, and what the boot was of."""

from bootlab.report.findings.audit_markdown import audit_markdown
from tests.cli.recorded_runs import AUDIT, boots


def test_each_finding_has_its_cost_its_dearest_and_its_technique() -> None:
    markdown = audit_markdown(AUDIT, boots("series-before.json")[:1])
    assert "made-up: ready after 10.00 ms, goal goal; costs up to ready, ms:" in markdown
    dearest = "sleep 0.0, run by late: 0.25, lasted 0.30; 9 more"
    assert f"| sleeps in scripts | 2.50 | 2.00 | 25.0 | {dearest} | `cmdline_units_masked` |" in markdown
    assert "Looked for and not found: legacy ptys." in markdown
    assert "uevents: not looked for: no worker of udev was seen to open a uevent file." in markdown
    assert "virtual clock" in markdown and "kernel" in markdown


def test_without_a_boot_on_record_nothing_is_said_of_its_inputs() -> None:
    long = AUDIT.findings[0].items[0].model_copy(update={"what": "sleep " + "9" * 100, "lasted_ns": None})
    bare = AUDIT.findings[0].model_copy(update={"items": [long], "idle_ns": 0, "technique": None})
    markdown = audit_markdown(AUDIT.model_copy(update={"findings": [bare], "goal": None}))
    assert f"| sleeps in scripts | 2.50 | | 25.0 | sleep {'9' * 54}...: 0.25 | |" in markdown
    assert "virtual clock" not in markdown
