"""Entries made from runs on record: boots, a profile beside them, recordings of other tools."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.experiments.store import Run, Store
from bootlab.ledger.commit import Commit
from bootlab.ledger.known_issues import KnownIssue
from bootlab.ledger.making import make_entry
from tests.cli.conftest import write_profile_run

DMESG = """[    0.000000] Linux version 6.1.0 (x@y) (gcc) #1 SMP
[    0.500000] calling  late+0x0/0x1 @ 1
[    1.500000] initcall late+0x0/0x1 returned 0 after 1000000 usecs
[    2.000000] Run /sbin/init as init process
[    3.000000] systemd[1]: Hostname set to <x>.
"""


def imported(folder: Path, *words: str) -> Run:
    """Return the run of an import of a kernel log."""
    log = folder / "dmesg.log"
    log.write_text(DMESG)
    assert run(["import", str(log), *words, "--json", "--runs", str(folder / "runs")]) == 0
    return Store(folder / "runs").find("last")


def test_a_profile_measures_the_known_issues_and_says_which_it_has_not_seen(tmp_path: Path) -> None:
    profiled = write_profile_run(tmp_path)
    issues = [KnownIssue(title="one", function="tpm_init"), KnownIssue(title="two", function="nothing_such")]
    made = make_entry(profiled, Commit("1" * 40), issues)
    assert made.entry.issues_ns["one"] == 2_750_000
    assert made.entry.issues_ns["two"] == 0
    assert made.cautions == (
        "known-issues.toml: two: no function nothing_such ran in this profile: it is gone, or has another name",
    )
    assert made.entry.ready_ns is not None
    assert made.entry.origin == "profile"


def test_a_recording_of_another_tool_has_its_phases_and_needs_a_name(tmp_path: Path) -> None:
    recorded = imported(tmp_path)
    with pytest.raises(InputError, match="--system: names the system"):
        make_entry(recorded, Commit(), [])
    with pytest.raises(InputError, match="--profile: is of boots"):
        make_entry(recorded, Commit(), [], system="board", profile=recorded)
    entry = make_entry(recorded, Commit("v1"), [], system="board").entry
    assert (entry.system, entry.commit, entry.clock, entry.origin) == ("board", "v1", "recorded", "dmesg")
    assert entry.ready_ns == 3_000_000_000
    assert entry.phases[0].duration_ns > 0
    assert list(entry.inputs) == ["dmesg.log"]


def test_a_run_of_two_systems_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "other.log"
    log.write_text(DMESG)
    assert run(["import", "--compare", str(log), str(log), "--json", "--runs", str(tmp_path / "runs")]) == 0
    both = Store(tmp_path / "runs").find("last")
    with pytest.raises(InputError, match="two recordings"):
        make_entry(both, Commit(), [], system="board")
