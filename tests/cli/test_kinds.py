"""Every kind of run: `bootlab report` shows a run of it as itself, in words, as JSON and, where it has one, as page."""

import json
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.cli.terminal.showing import show
from bootlab.errors import InputError, StoreError
from bootlab.experiments.store import Run, RunKind, Store, read_run
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import write_json
from bootlab.report.kinds import KINDS
from bootlab.techniques.model.verdict import Verdict
from tests.cli.conftest import write_profile_run
from tests.cli.recorded_runs import AUDIT, RUNS, coldplug_run, packages_run, unused_run

WITHOUT_A_PAGE = {
    RunKind.GATE, RunKind.BISECT, RunKind.AUDIT, RunKind.TAILOR, RunKind.UNUSED, RunKind.COLDPLUG, RunKind.SNAPSHOT,
    RunKind.CLONES, RunKind.PACKAGES, RunKind.STORM,
}  # fmt: skip
TITLES = {
    RunKind.BOOT: "ms virtual",
    RunKind.MEASURE: "boots ready",
    RunKind.TRY: "for no reason, over",
    RunKind.COMPARE: "verdict: ",
    RunKind.PROFILE: "account closed",
    RunKind.AUDIT: "and what of it the boot may do without",
    RunKind.IMPORT: "Initcalls: 575",
    RunKind.SWEEP: "vCPU",
    RunKind.STUDY: "MB/s",
    RunKind.TAILOR: "dropped: 25 options by name",
    RunKind.UNUSED: "2 of 40 files were never opened",
    RunKind.COLDPLUG: "devices that a module could be for",
    RunKind.GATE: "of changes that do nothing at most",
    RunKind.BISECT: "slow_init (new)",
    RunKind.SNAPSHOT: "instructions that no clone runs",
    RunKind.CLONES: "all different: random bytes",
    RunKind.LIVES: "2 lives; powered off 60 s after power-on",
    RunKind.STORM: "serialised by CPUs: 10 machines on 2",
    RunKind.PACKAGES: "that are no package's are the boot's 10.00 ms",
}
"""What the terminal view of a kind says, and that of no other need say."""


@pytest.mark.parametrize("kind", RunKind)
def test_a_run_of_each_kind_is_shown_as_itself(
    kind: RunKind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = RUNS[kind](Store(tmp_path))
    code = run(["report", str(written.path)])
    said = capsys.readouterr()
    assert said.err == ""
    assert TITLES[kind] in said.out
    page = written.path / "report.html"
    assert page.is_file() == (kind not in WITHOUT_A_PAGE)
    assert (f"report: {page}" in said.out) == page.is_file()
    # The verb shows what it has found through the same view.
    assert show(written, KINDS[kind](written), json=False) == code
    assert capsys.readouterr().out == said.out


@pytest.mark.parametrize("kind", [kind for kind in RunKind if kind is not RunKind.PROFILE])
def test_the_json_is_what_the_verb_wrote(kind: RunKind, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = RUNS[kind](Store(tmp_path))
    run(["report", str(written.path), "--json"])
    recorded = written.audit.read_text() if kind is RunKind.AUDIT else written.result_text()
    assert capsys.readouterr().out == recorded


@pytest.mark.parametrize("kind", RunKind)
def test_a_run_that_was_interrupted_or_is_damaged_is_an_error(kind: RunKind, tmp_path: Path) -> None:
    begun = Store(tmp_path).start(kind, "made-up", {})
    with pytest.raises(InputError):
        run(["report", str(begun.path)])
    if kind not in (RunKind.BOOT, RunKind.MEASURE, RunKind.PROFILE, RunKind.AUDIT):
        begun.result.write_text('{"schema": "bootlab.other/1"}')
        with pytest.raises(StoreError, match=r"result\.json: damaged"):
            run(["report", str(begun.path)])


@pytest.mark.parametrize("kind", sorted(WITHOUT_A_PAGE))
def test_a_page_of_a_kind_that_has_none_is_refused(kind: RunKind, tmp_path: Path) -> None:
    written = RUNS[kind](Store(tmp_path))
    with pytest.raises(InputError, match=f"--to: a run of bootlab {kind} has no page"):
        run(["report", str(written.path), "--to", str(tmp_path / "page.html")])


def test_a_boot_that_fails_without_the_files_is_a_bad_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path)
    assert run(["report", str(unused_run(store, outcome=None).path)]) == 0
    assert "without them" not in capsys.readouterr().out
    assert run(["report", str(unused_run(store, outcome=Outcome.HUNG).path)]) == 1
    assert "without them: hung nothing for 5 s" in capsys.readouterr().out


def test_long_lists_say_how_much_they_leave_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(coldplug_run(Store(tmp_path)).path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 devices that a module could be for, 1 of them with a driver; 6.12.1-cloud"
    assert lines[1] == "modules for them: 15, 150,105 bytes"
    assert lines[2].split() == ["10,014", "virtio_14"]
    assert lines[14].strip() == "and 3 more"


def test_packages_are_ranked_closed_and_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path)
    written = packages_run(store)
    assert run(["report", str(written.path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "for goal; 7 packages are installed, and of 1 nothing ran or was read" in said
    assert "late 3.00 2.00 30.0 1 unit (late); 2 processes; 1 module, 0.50 ms to load; 1 file of the" in said
    assert "late-plugins with it" in said
    assert "systemd 5.00 50.0 it is the first process; 5 units (unit-0, unit-1, unit-2 and 2 more)" in said
    assert "all others 0.00 0.0 each below 0.05 %" in said
    assert "account closed: 7.00 ms of packages and 3.00 ms that are no package's are the boot's 10.00 ms" in said
    assert "gone with them: late-plugins, libnoise come instead: libquiet predicted 3.00 ms, measured" in said
    assert "verdict: shorter" in said
    assert run(["report", str(written.path), "--markdown"]) == 0
    markdown = capsys.readouterr().out
    assert "| `late` | 3.00 | 2.00 |" in markdown and "\x1b" not in markdown
    assert run(["report", str(packages_run(store, verdict=Verdict.BROKE_IT).path)]) == 1
    assert "verdict: broke it" in capsys.readouterr().out


def test_markdown_goes_with_no_other_form(tmp_path: Path) -> None:
    written = packages_run(Store(tmp_path))
    for words in (["--json"], ["--to", str(tmp_path / "page.html")], ["--list"]):
        with pytest.raises(InputError, match=f"--markdown: prints tables and nothing else, but {words[0]} asks for"):
            run(["report", str(written.path), "--markdown", *words])
    assert not (tmp_path / "page.html").exists()


def audited_profile(store: Store, asked: dict[str, object]) -> Run:
    begun = store.start(RunKind.PROFILE, "made-up", asked)
    write_json(begun.audit, AUDIT.model_dump(mode="json", by_alias=True))
    return read_run(begun.path)


def test_audits_of_older_versions_are_audits(tmp_path: Path) -> None:
    assert audited_profile(Store(tmp_path), {"system": "made-up.toml", "paths": True}).kind is RunKind.AUDIT
    # A profile that was audited later stays a profile.
    assert audited_profile(Store(tmp_path), {"system": "made-up.toml", "span_ns": 0}).kind is RunKind.PROFILE


def test_the_profile_of_an_audit_is_shown_by_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audited = write_profile_run(tmp_path).path / "run.json"
    audited.write_text(audited.read_text().replace('"kind": "profile"', '"kind": "audit"'))
    assert read_run(audited.parent).kind is RunKind.AUDIT
    assert run(["profile", "1", "--runs", str(tmp_path)]) == 0
    assert TITLES[RunKind.PROFILE] in capsys.readouterr().out
    with pytest.raises(InputError, match="was not audited"):
        run(["report", "1", "--runs", str(tmp_path)])


def test_a_kind_of_another_version_is_listed_and_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun = Store(tmp_path).start(RunKind.BOOT, "made-up", {})
    for name in ("run.json", "../index.jsonl"):
        path = begun.path / name
        path.write_text(path.read_text().replace('"boot"', '"dream"'))
    assert run(["report", "--list", "--json", "--runs", str(tmp_path)]) == 0
    assert [one["kind"] for one in json.loads(capsys.readouterr().out)["runs"]] == ["dream"]
    with pytest.raises(StoreError, match="a run of kind 'dream', which this bootlab does not know"):
        run(["report", "last", "--runs", str(tmp_path)])
