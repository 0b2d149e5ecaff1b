"""`bootlab audit` and `try --audit` as a user meets them; boots are in tests/boot."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from bootlab.cli.app import run
from bootlab.errors import InputError, StoreError
from bootlab.experiments.audits import audited_facts
from bootlab.experiments.store import Run, Store
from bootlab.report.findings import audit_text
from tests.cli.recorded_runs import AUDIT


def test_a_finding_has_its_cost_its_largest_items_and_what_to_type() -> None:
    stream = io.StringIO()
    Console(file=stream, width=100, highlight=False, markup=False).print(audit_text.audit(AUDIT))
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= 100
    assert "sleeps in scripts: 2.50 ms (25.0 %, 2.00 of it idle)" in text
    assert text.count("run by late, lasted 0.30") == 8 and "and 2 more, in the JSON" in text
    assert "bootlab try SYSTEM cmdline_units_masked --audit /runs/0001" in text
    assert "looked for and not found: legacy ptys" in text
    assert "uevents: not looked for: no worker of udev" in text


def test_a_trial_is_given_what_an_audit_found(profile_run: Run, tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(InputError, match="--audit 1: .* was not audited"):
        audited_facts(store, "1")
    profile_run.audit.write_text(json.dumps(AUDIT.model_dump(mode="json", by_alias=True)))
    assert audited_facts(store, "1") == {"audit_needless_units": "cron ssh"}
    profile_run.audit.write_text('{"schema": "bootlab.audit/1"')
    with pytest.raises(StoreError, match=r"audit\.json: damaged"):
        audited_facts(store, "1")


def test_what_is_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="77: no such run"):
        run(["audit", "77", "--runs", str(tmp_path)])
