"""`bootlab apply` on trials of recorded boots: what it writes, boots again, and refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError, StoreError
from bootlab.experiments.kept_systems import TAILORED, keep_systems
from bootlab.experiments.store import RunKind, Store
from bootlab.system import read_system
from tests.cli.test_compare import Place, placed
from tests.cli.test_tailor import SYSTEM
from tests.replayed import answer
from tests.report.tailor.test_reasons import RESULT

HELPS, USELESS = "cmdline_audit_off", "cmdline_quiet"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return placed(tmp_path, answer("audit=0", later_ns=-5_000_000))


@pytest.fixture
def tried(place: Place) -> str:
    """Return the run of a trial in which one technique helped."""
    return place.on_record("try", place.system("base"), HELPS, USELESS)


def apply(place: Place, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["apply", *words, "--json", "--runs", str(place.runs)]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def stack_of(tried: str) -> tuple[str, dict[str, Any]]:
    final = json.loads((Path(tried) / "result.json").read_text())["final"]
    return next((name, end) for name, end in final.items() if end["techniques"])


def test_the_files_of_a_stack_boot_to_its_figure(
    place: Place, tried: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, end = stack_of(tried)
    told = apply(place, capsys, tried, "--stack", name, "--to", str(tmp_path / "changes"))
    assert (told["schema"], told["stack"], told["techniques"]) == ("bootlab.apply/1", name, [HELPS])
    assert told["words"] == ["audit=0"] and told["after_ns"] == end["ready_ns"]
    for one in told["files"]:
        assert (tmp_path / "changes" / one["path"]).is_file()
    assert Path(told["package"]).is_file()
    page = (tmp_path / "changes/CHANGES.md").read_text()
    assert f"| `{HELPS}` | 5.00 |" in page and "virtual clock" in page
    record = Path(place.on_record("boot", "--quiet", str(tmp_path / "changes/system.toml"))) / "boots/1/record.json"
    assert json.loads(record.read_text())["marks"]["ready"] == end["ready_ns"]


def test_a_terminal_is_told_what_each_file_is_for(
    place: Place, tried: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, _ = stack_of(tried)
    capsys.readouterr()
    words = ["apply", tried, "--stack", name.replace(" ", "-"), "--to", str(tmp_path / "changes")]
    assert run([*words, "--runs", str(place.runs)]) == 0
    said = capsys.readouterr().out
    assert "root/etc/default/grub.d/90-bootlab.cfg: GRUB, after update-grub" in said
    assert f"bootlab boot {tmp_path}/changes/system.toml" in said


def test_what_cannot_be_applied_says_why(place: Place, tried: str, tmp_path: Path) -> None:
    name, _ = stack_of(tried)
    changes = tmp_path / "changes"

    def refused(match: str, *words: str) -> None:
        with pytest.raises(InputError, match=match):
            run(["apply", *words, "--runs", str(place.runs)])

    refused("--to DIR is missing", tried)
    refused("--stack nothing: this trial has no such stack", tried, "--stack", "nothing", "--to", str(changes))
    measured = place.on_record("measure", place.system("base"), "-n", "2")
    refused("a measure, neither a try nor a tailor", measured, "--to", str(changes))
    alone = place.on_record("try", place.system("base"), HELPS, "--no-stack")
    refused("stacked nothing", alone, "--to", str(changes))
    useless = place.on_record("try", place.system("base"), USELESS)
    refused("no technique stayed on the stack 'recommended'", useless, "--to", str(changes))
    assert not changes.exists()
    changes.mkdir()
    (changes / "mine").write_text("")
    refused("holds files already", tried, "--stack", name, "--to", str(changes))
    # A trial of before systems were kept; resumed, it keeps them.
    for path in (Path(tried) / "systems").iterdir():
        path.unlink()
    refused("did not keep it", tried, "--stack", name, "--to", str(tmp_path / "new"))
    assert run(["try", place.system("base"), "--resume", tried, "--json", "--runs", str(place.runs)]) == 0
    assert run(["apply", tried, "--stack", name, "--to", str(tmp_path / "new"), "--runs", str(place.runs)]) == 0


def tailored(place: Place, tmp_path: Path, **changes: Any) -> str:
    """Return a tailoring on record: what it writes of a kernel that lost an option and got one."""
    found = Store(place.runs).start(RunKind.TAILOR, "mine", {})
    path = tmp_path / "tailored.toml"
    path.write_text(SYSTEM)
    before = read_system(path)
    assert before.kernel.build is not None
    options = {**before.kernel.build.options, "EXPERT": "y", "MULTIUSER": "n"}
    after = before.with_part("kernel", build={**dict(before.kernel.build), "options": options})
    keep_systems(found.path, before, [(TAILORED, after)])
    result = RESULT.model_copy(update={"run": str(found.path), **changes})
    found.result.write_text(json.dumps(result.model_dump(mode="json", by_alias=True)))
    return str(found.path)


def test_a_fitted_kernel_is_a_fragment(place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_of_it, changes = tailored(place, tmp_path), tmp_path / "changes"
    told = apply(place, capsys, run_of_it, "--to", str(changes), "--for", "buildroot", "--for", "yocto")
    assert (told["stack"], told["techniques"]) == ("tailored", [])
    assert (told["before_ns"], told["after_ns"]) == (2_000_000, 1_000_000)
    fragment = (changes / "kernel/bootlab.config").read_text().splitlines()[1:]
    assert fragment == ["CONFIG_EXPERT=y", "# CONFIG_MULTIUSER is not set"]
    assert read_system(changes / "system.toml").kernel.build is not None
    page = (changes / "CHANGES.md").read_text()
    assert "2.00 -> 1.00 ms on the virtual clock, shorter" in page and "check does not do will not work" in page
    assert "Given up by name: MULTIUSER." in page and "BR2_EXTERNAL" in page and "bitbake-layers" in page
    with pytest.raises(InputError, match="is a tailoring, which has no stacks"):
        run(["apply", run_of_it, "--stack", "ladder", "--to", str(tmp_path / "x"), "--runs", str(place.runs)])
    nothing = tailored(place, tmp_path, dropped=[])
    with pytest.raises(InputError, match="no option went"):
        run(["apply", nothing, "--to", str(tmp_path / "x"), "--runs", str(place.runs)])


def test_a_place_that_takes_nothing_is_named(place: Place, tried: str, tmp_path: Path) -> None:
    name, _ = stack_of(tried)
    (tmp_path / "file").write_text("")
    with pytest.raises((InputError, StoreError), match="--to"):
        run(["apply", tried, "--stack", name, "--to", str(tmp_path / "file"), "--runs", str(place.runs)])


def test_the_last_trial_is_what_no_word_means(place: Place, tried: str, tmp_path: Path) -> None:
    name, _ = stack_of(tried)
    assert Store(place.runs).find("last").path == Path(tried)
    assert run(["apply", "--stack", name, "--to", str(tmp_path / "changes"), "--runs", str(place.runs)]) == 0


def test_an_image_is_for_a_system_that_boots_from_one(place: Place, tried: str, tmp_path: Path) -> None:
    name, _ = stack_of(tried)
    words = ["apply", tried, "--stack", name, "--to", str(tmp_path / "changes"), "--runs", str(place.runs)]
    with pytest.raises(InputError, match="--image: .* boots from no disk image"):
        run([*words, "--image", str(tmp_path / "new.img")])
    assert not (tmp_path / "changes").exists() and not (tmp_path / "new.img").exists()
