"""`bootlab techniques`: the list, one in full, and figures of a trial written beside the published ones."""

import json
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError, StoreError
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.techniques.page.measured_figures import figure_words, read_measured

DATA = Path(__file__).parents[1] / "data" / "report"


@pytest.fixture
def trial(tmp_path: Path) -> Run:
    """A trial on record, with its baseline's boot."""
    asked = {"stack": False, "seeds": 3, "nulls": 4, "settings": ["kernel.cmdline+= quiet"]}
    found = Store(tmp_path / "runs").start(RunKind.TRY, "fixture-debian-cloud", asked, file="my systems/cloud.toml")
    boot = found.boot_directory("baseline-s1")
    record = json.loads((DATA / "series-before.json").read_text())[0]
    facts = {**record["facts"], "kernel": "Linux version 6.12.107+deb13-cloud-amd64 (debian-kernel@lists.debian.org)"}
    (boot / "record.json").write_text(json.dumps({**record, "run": str(boot), "facts": facts}))
    result = json.loads((DATA / "try.json").read_text())
    found.result.write_text(json.dumps({**result, "baseline_run": str(boot), "run": str(found.path)}))
    return found


@pytest.mark.promise("bootlab techniques")
def test_lists_all_of_them_and_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["techniques", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    adds = {one["name"] for one in document["techniques"] if one["adds"]}
    assert "kernel_add_ext4" in adds
    assert "kernel_smp_off" not in adds
    assert {"bottom-up", "board-2019", "microvm-2024", "mandriva-2009", "desktop-2026", "cloud-image"} <= set(
        document["plans"]
    )
    assert run(["techniques", "kernel_smp_off"]) == 0
    assert "SMP=n" in capsys.readouterr().out


def test_figures_come_from_a_trial_on_record(trial: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "measured.json"
    assert run(["techniques", "--measured", str(trial.path), "--figures", str(path)]) == 0
    figures = read_measured(path).results
    tried = json.loads(trial.result.read_text())["alone"]
    assert [one.technique for one in figures] == sorted(
        one["technique"] for one in tried if one["verdict"] != "does not apply"
    )
    first = next(one for one in figures if one.technique == "cmdline_cryptomgr_notests")
    assert first.kernel == "6.12.107+deb13-cloud-amd64"
    assert first.saved_ns == next(one["saved_ns"] for one in tried if one["technique"] == first.technique)
    words = "cmdline_cryptomgr_notests --set 'kernel.cmdline+= quiet' --no-stack --seeds 3 --nulls 4"
    assert first.command == f"bootlab try 'my systems/cloud.toml' {words}"
    # The same trial again changes nothing.
    before = path.read_bytes()
    assert run(["techniques", "--measured", str(trial.path), "--figures", str(path)]) == 0
    assert path.read_bytes() == before
    assert f"{len(figures)} in all" in capsys.readouterr().out.replace("\n", " ")
    # And are shown beside the published ones.
    assert run(["techniques", first.technique, "--figures", str(path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["techniques"][0]["measured"]
    assert shown == [first.model_dump(mode="json")]
    assert run(["techniques", first.technique, "--figures", str(path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"measured {figure_words(first)}" in printed


def test_a_figure_has_its_ticks_moved_where_each_of_its_boots_did(trial: Run, tmp_path: Path) -> None:
    result = json.loads(trial.result.read_text())
    first, second, *_ = (one for one in result["alone"] if len(one["members"]) > 1)
    for boots in (result["baseline"]["members"], first["members"], second["members"][1:]):
        for boot in boots:
            boot["ticks_moved_ns"] = 1_230_000
    trial.result.write_text(json.dumps(result))
    path = tmp_path / "measured.json"
    assert run(["techniques", "--measured", str(trial.path), "--figures", str(path)]) == 0
    assert [one.technique for one in read_measured(path).results if one.ticks_moved] == [first["technique"]]


def test_a_run_of_before_its_file_was_kept_names_the_system(trial: Run, tmp_path: Path) -> None:
    said = json.loads((trial.path / "run.json").read_text())
    del said["file"]
    said["asked"] = {}
    (trial.path / "run.json").write_text(json.dumps(said))
    path = tmp_path / "measured.json"
    assert run(["techniques", "--measured", str(trial.path), "--figures", str(path)]) == 0
    first = read_measured(path).results[0]
    assert first.command == f"bootlab try fixture-debian-cloud.toml {first.technique}"


def test_our_own_figures_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["techniques", "kernel_smp_off"]) == 0
    assert "(embedded, 6.12.117, virtual clock" in " ".join(capsys.readouterr().out.split())


def test_a_run_that_measured_no_technique_is_refused(tmp_path: Path) -> None:
    boot = Store(tmp_path / "runs").start(RunKind.BOOT, "x", {})
    with pytest.raises(InputError, match="a boot, not a try"):
        run(["techniques", "--measured", str(boot.path)])
    unfinished = Store(tmp_path / "runs").start(RunKind.TRY, "x", {})
    with pytest.raises(InputError, match="no result yet"):
        run(["techniques", "--measured", str(unfinished.path)])
    with pytest.raises(InputError, match="takes runs"):
        run(["techniques", "cmdline_quiet", "--measured", str(unfinished.path)])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["cmdline_quiet", "--plans"], "--plans lists every plan"),
        (["--figures", "x.json"], "no TECHNIQUE or --measured"),
    ],
)
def test_words_that_would_be_ignored_are_refused(words: list[str], why: str) -> None:
    with pytest.raises(InputError, match=why):
        run(["techniques", *words])


def test_a_file_that_cannot_hold_figures_is_an_error(trial: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("[]")
    with pytest.raises(InputError, match="not a file of measured figures"):
        run(["techniques", "--measured", str(trial.path), "--figures", str(other)])
    with pytest.raises(StoreError, match="cannot write the figures"):
        run(["techniques", "--measured", str(trial.path), "--figures", str(tmp_path / "gone" / "x.json")])
