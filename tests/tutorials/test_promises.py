"""A promise that is not kept is found: each is held against runs, files and lines that keep it, and that do not."""

import shutil
from pathlib import Path

import pytest

from bootlab.build.deployment.applied_files import carried
from bootlab.cli.app import run
from bootlab.findings.technique_evidence import measured_of
from bootlab.measure.record_files import read_record
from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques
from tests.cli.test_compare import Place, placed
from tests.replayed import answer
from tests.targets.replay.record_boots import DATA
from tests.tutorials.promises import check_promises, expect_applied, expect_options, expect_printed, results

SHOWN = "before  ready  1618.11 ms virtual\nfirmware     15.77  1.0\n"


@pytest.fixture
def applied(tmp_path: Path) -> Place:
    """A folder in which a trial's stack was written as files, and booted."""
    place = placed(tmp_path, answer("audit=0", later_ns=-5_000_000))
    tried = place.on_record("try", place.system("base"), "cmdline_audit_off")
    (tmp_path / "bootlab-runs").symlink_to(place.runs)
    words = ["apply", tried, "--stack", stack_of(tmp_path), "--to", str(tmp_path / "changes")]
    assert run([*words, "--runs", str(place.runs)]) == 0
    place.on_record("boot", "--quiet", str(tmp_path / "changes/system.toml"))
    return place


def stack_of(folder: Path) -> str:
    (trial,) = results(folder, "try")
    name: str = next(name for name, end in trial["final"].items() if end["techniques"])
    return name


def test_the_files_of_a_trial_have_its_figures(applied: Place, tmp_path: Path) -> None:
    (trial,) = results(tmp_path, "try")
    account = expect_applied(tmp_path, trial, stack_of(tmp_path))
    assert "| `cmdline_audit_off` | 5.00 |" in account
    (tmp_path / "changes/CHANGES.md").write_text(account.replace("| 5.00 |", "| 5.01 |"))
    with pytest.raises(AssertionError, match=r"CHANGES\.md has the step"):
        expect_applied(tmp_path, trial, stack_of(tmp_path))


def test_what_boots_to_another_figure_is_not_what_was_tried(applied: Place, tmp_path: Path) -> None:
    applied.on_record("boot", "--quiet", applied.system("base"))
    (trial,) = results(tmp_path, "try")
    with pytest.raises(AssertionError, match="boots to the trial's figure"):
        expect_applied(tmp_path, trial, stack_of(tmp_path))


def test_a_tutorial_without_its_runs_keeps_no_promise(tmp_path: Path) -> None:
    for name in ("embedded", "images", "microvm"):
        with pytest.raises((AssertionError, ValueError)):
            check_promises(name, tmp_path, "")
    with pytest.raises(KeyError):
        check_promises("unknown", tmp_path, "")


def test_an_option_that_no_file_has_is_found(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "board.toml", tmp_path)
    measured = measured_of(read_record(DATA / "virtual/ready-s1"))
    changed = stock = read_system(EXAMPLES / "board.toml").with_part("bootloader", options={})
    for technique in require_techniques(load_catalogue(), ("bootloader_no_delay", "bootloader_no_scan")):
        changed = technique.change.apply(changed, measured)
    made = carried(stock, changed)
    for path, text in made.files.items():
        (tmp_path / "changes" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "changes" / path).write_text(text)
    account = "".join(f"| `{key}` | {what} |\n" for key, what in made.by_hand.items())
    expect_options(tmp_path, account)
    fragment = tmp_path / "changes/u-boot/bootlab.config"
    fragment.write_text(fragment.read_text().replace("# CONFIG_NET is not set\n", ""))
    with pytest.raises(AssertionError, match="NET is in the fragment"):
        expect_options(tmp_path, account)


@pytest.mark.parametrize(
    "printed",
    [
        "x\nbefore  ready  1618.11 ms virtual\nfirmware \u2588\u2588   15.77  1.0\n",
        "before ready 1500 ms virtual\nbetween\nfirmware 15.00 1.9\n",
    ],
)
def test_figures_may_differ_by_a_tenth_and_bars_by_all(printed: str) -> None:
    expect_printed(SHOWN, printed, "x")


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "firmware 15.77 1.0\nbefore ready 1618.11 ms virtual\n",
        "before ready 1618.11 ms virtual\nfirmware 15.77\n",
        "before ready 1400.00 ms virtual\nfirmware 15.77 1.0\n",
        "before ready 1618.11 ms wall\nfirmware 15.77 1.0\n",
        "before ready 1618.11 ms virtual\nfirmware 13.00 1.0\n",
    ],
)
def test_a_line_that_was_not_printed_is_missed(printed: str) -> None:
    with pytest.raises(AssertionError, match="nothing printed this"):
        expect_printed(SHOWN, printed, "x")
