"""`bootlab gate` on recorded boots: what passes, what is stopped, what cannot be told, and in which forms."""

import json
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.experiments.store import Store
from tests.cli.test_compare import Place, placed
from tests.replayed import answer

SLOWER, NEARLY = answer("slower", later_ns=5_000_000), answer("nearly", later_ns=300_000)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("BOOTLAB_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.chdir(tmp_path)
    return placed(tmp_path, SLOWER, NEARLY, answer({"kernel.cmdline": "dies", "seed": "^2$"}, end="hung"))


def gate(place: Place, system: str, against: str, *words: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code of a gate and what it has on record."""
    code = run(["gate", system, "--against", against, "--no-explain", *words, "--runs", str(place.runs)])
    found: dict[str, Any] = json.loads(Store(place.runs).find("last").result_text())
    return code, found


@pytest.mark.promise("bootlab gate")
def test_what_is_longer_is_stopped_and_what_is_not_passes(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    base, slower = place.system("base"), place.system("slower", "slower")
    code, found = gate(place, slower, base)
    assert (code, found["verdict"]) == (1, "longer")
    (figure,) = found["figures"]
    assert (figure["what"], figure["longer_ns"]) == ("ready", 5_000_000)
    assert figure["smallest_ns"] == 4 * figure["spread_ns"] == figure["limit_ns"]
    said = " ".join(capsys.readouterr().out.split())
    assert "slower against base: longer" in said
    assert "+5.00" in said
    assert "figure baseline ms now ms change ms % limit ms detectable ms verdict" in said
    assert "baseline: base; now: slower; limit: how much longer it may be; detectable: the smallest change" in said
    assert gate(place, base, slower)[0] == 0
    assert gate(place, base, base)[1]["verdict"] == "unchanged"
    assert gate(place, slower, base, "--limit", "20ms")[1]["verdict"] == "unchanged"


def test_a_limit_below_what_can_be_seen_is_no_answer(place: Place) -> None:
    base = place.system("base")
    code, found = gate(place, base, base, "--limit", "1us")
    assert (code, found["verdict"]) == (2, "cannot say")
    assert "below what can be seen" in found["figures"][0]["why"]


def test_near_the_limit_fresh_boots_of_both_sides_decide(place: Place) -> None:
    code, found = gate(place, place.system("nearly", "nearly"), place.system("base"))
    (figure,) = found["figures"]
    assert figure["longer_ns"] > figure["limit_ns"], "by the seeds it is longer"
    assert figure["longer_ns"] - figure["limit_ns"] < 5 * figure["spread_ns"], "and not plainly so"
    assert (code, found["verdict"]) == (1, "longer")
    assert (found["boots_before"], found["boots_after"]) == (3 + 5 + 8, 3 + 5 + 5)


def test_what_is_on_record_is_held_against_and_not_booted_again(place: Place) -> None:
    base, slower = place.system("base"), place.system("slower", "slower")
    place.on_record("try", base, "cmdline_quiet", "--no-stack")
    on_record = str(Store(place.runs).find("last").path)
    code, found = gate(place, slower, on_record)
    assert (code, found["boots_before"]) == (1, 8)
    booted = [path.name for path in Store(place.runs).find("last").records()]
    assert booted and not any(name.startswith("before") for name in booted)
    code, found = gate(place, place.system("nearly", "nearly"), on_record, "--limit", "1%")
    assert found["figures"][0]["smallest_ns"] == 7 * found["figures"][0]["spread_ns"]


def test_a_ledger_is_held_against(place: Place) -> None:
    slower = place.system("small", "slower")
    place.on_record("try", place.system("small"), "cmdline_quiet", "--no-stack")
    assert run(["ledger", "add", "--label", "v1", "--runs", str(place.runs)]) == 0
    slower = place.system("small", "slower")
    for against in ("ledger", "ledger:v1"):
        code, found = gate(place, slower, against)
        assert (code, found["against_commit"]) == (1, "v1")
        assert found["phases"]
    with pytest.raises(InputError, match="a ledger has a figure of one boot, or a median"):
        gate(place, slower, "ledger", "--on", "phase:initcalls")
    with pytest.raises(InputError, match="no entry of small has such a commit"):
        gate(place, slower, "ledger:v9")


def test_phases_are_watched_by_name(place: Place) -> None:
    base, slower = place.system("base"), place.system("slower", "slower")
    code, found = gate(place, slower, base, "--on", "ready,phase:user space,phase:firmware")
    verdicts = {one["what"]: one["verdict"] for one in found["figures"]}
    assert (code, verdicts["phase:firmware"], verdicts["ready"]) == (1, "unchanged", "longer")
    with pytest.raises(InputError, match=r"--on phase:lunch: a boot of .* has no such phase"):
        gate(place, slower, base, "--on", "phase:lunch")
    with pytest.raises(InputError, match="--on lunch: not a figure"):
        gate(place, slower, base, "--on", "lunch")


def test_timings_are_watched_by_name(place: Place) -> None:
    base, slower = place.system("base"), place.system("slower", "slower")
    for path in (base, slower):
        timings = (
            'to-user-space = { mark = "first_user_instruction" }\nwhole = { mark = "ready" }\nno = { mark = "never" }\n'
        )
        Path(path).write_text(f"{Path(path).read_text()}\n[timings]\n{timings}")
    code, found = gate(place, slower, base, "--on", "timing:whole, timing:to-user-space")
    longer = {one["what"]: (one["verdict"], one["longer_ns"]) for one in found["figures"]}
    assert (code, longer["timing:whole"]) == (1, ("longer", 5_000_000))
    assert longer["timing:to-user-space"] == ("unchanged", 0)
    with pytest.raises(InputError, match=r"--on timing:no: a boot of base, seed 1, was ready, and has not seen it"):
        gate(place, slower, base, "--on", "timing:no")
    last = Store(place.runs).find("last").path
    with pytest.raises(InputError, match=r"--on timing:lunch: .*slower.toml has no timings.lunch") as caught:
        gate(place, slower, base, "--on", "ready,timing:lunch")
    assert caught.value.hint == "it has to-user-space, whole, no"
    with pytest.raises(InputError, match=r"--on timing:whole: .*other.toml has no timings.whole") as caught:
        gate(place, slower, place.system("other"), "--on", "timing:whole")
    assert caught.value.hint == "[timings] names them: docs/screen.md"
    assert Store(place.runs).find("last").path == last, "nothing was booted for it"
    with pytest.raises(InputError, match="--on timing:: not a figure"):
        gate(place, slower, base, "--on", "timing:")


def test_a_timing_that_is_of_other_marks_is_told(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    base, other = place.system("base"), place.system("other")
    for path, marks in ((base, 'mark = "ready"'), (other, 'mark = "ready", after = "init_exec"')):
        Path(path).write_text(f"{Path(path).read_text()}\n[timings]\nwhole = {{ {marks} }}\n")
    gate(place, other, base, "--on", "timing:whole")
    said = "bootlab: warning: --on timing:whole: is not of the same marks: power_on to ready before, init_exec to ready"
    assert said in " ".join(capsys.readouterr().err.split())
    gate(place, base, base, "--on", "timing:whole")
    assert "not of the same marks" not in capsys.readouterr().err


def test_a_boot_that_fails_breaks_the_gate(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    base, dies = place.system("base"), place.system("dies", "dies")
    code, found = gate(place, dies, base)
    assert (code, found["verdict"], found["figures"]) == (3, "broken", [])
    assert "hung" in found["why"]
    code, found = gate(place, base, dies)
    assert (code, found["verdict"]) == (3, "broken")
    assert "dies, which it is held against" in found["why"]
    capsys.readouterr()
    assert run(["gate", dies, "--against", base, "--format", "junit", "--runs", str(place.runs)]) == 3
    (suite,) = [xml.fromstring(capsys.readouterr().out)]
    assert suite.get("errors") == "1"
    assert run(["gate", dies, "--against", base, "--format", "bencher", "--runs", str(place.runs)]) == 3
    assert json.loads(capsys.readouterr().out) == {"dies boot": {"ready": {"value": 0}}}
    assert run(["report", "last", "--runs", str(place.runs)]) == 3, "as the gate itself"


def found_ns(place: Place) -> int:
    found: dict[str, Any] = json.loads(Store(place.runs).find("last").result_text())
    ready: int = found["figures"][0]["after_ns"]
    return ready


@pytest.mark.parametrize(
    "form", ["markdown", "github", "gitlab", "junit", "openmetrics", "bencher", "reference", "json"]
)
def test_every_form_says_the_same(form: str, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    base, slower = place.system("base"), place.system("slower", "slower")
    words = ["gate", slower, "--against", base, "--format", form, "--no-explain", "--runs", str(place.runs)]
    capsys.readouterr()
    assert run(words) == 1
    said = capsys.readouterr().out
    if form == "junit":
        (case,) = xml.fromstring(said).findall("testcase")
        assert "longer" in (case.find("failure").get("message") or "")  # type: ignore[union-attr]
    elif form == "gitlab":
        (finding,) = json.loads(said)
        assert (finding["severity"], finding["check_name"]) == ("major", "boot time: ready")
        assert finding["location"]["path"] == "slower.toml", "from where it was called"
    elif form == "bencher":
        found = json.loads(said)
        latency = found["slower ready"]["latency"]
        assert latency["lower_value"] < latency["value"]
        assert found["slower boot"] == {"ready": {"value": 1}}
    elif form == "openmetrics":
        assert 'bootlab_boot_longer_seconds{system="slower",figure="ready",clock="virtual"} 0.005000000' in said
        assert said.endswith("# EOF\n")
    elif form == "json":
        assert json.loads(said)["schema"] == "bootlab.gate/1"
    elif form == "reference":
        values = dict(line.split(": ") for line in said.splitlines() if not line.startswith("#"))
        assert list(values) == sorted(values, key=lambda name: float(values[name]))
        assert float(values['"ready"']) == pytest.approx(found_ns(place) / 1e9)
    elif form == "github":
        assert said.startswith("::error title=boot time of slower::ready longer: ")
        assert "%25" in said and said.count("\n") == 1
    else:
        assert said.startswith("**longer**: slower against base.")


def test_what_is_held_against_must_have_the_boots_of_an_answer(place: Place) -> None:
    base = place.system("base")
    place.on_record("boot", base)
    code, found = gate(place, place.system("nearly", "nearly"), str(Store(place.runs).find("last").path))
    assert (code, found["verdict"]) == (2, "cannot say")
    assert "3 seeds and 3 null changes of the baseline, and on record are 1 and 0" in found["figures"][0]["why"]


def test_figures_of_another_kind_are_not_held_against(place: Place) -> None:
    place.on_record("try", place.system("small"), "cmdline_quiet", "--no-stack")
    assert run(["ledger", "add", "--label", "v1", "--runs", str(place.runs)]) == 0
    path = place.folder / "ledger" / "small.jsonl"
    path.write_text(path.read_text().replace('"cpu":"max"', '"cpu":"qemu64"'))
    with pytest.raises(InputError, match="entries of another CPU model do not compare"):
        gate(place, place.system("small"), "ledger")


def test_what_cannot_be_looked_at_is_said_and_leaves_the_answer(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    base, slower = place.system("base"), place.system("slower", "slower")
    words = ["gate", slower, "--against", base, "--runs", str(place.runs)]
    assert run(words) == 1
    assert "not looked at: no profile says what the boots do: " in capsys.readouterr().out
    assert run([*words, "--format", "junit"]) == 1
    said = capsys.readouterr()
    assert "warning: not looked at: no profile" in said.err
    assert xml.fromstring(said.out).get("failures") == "1"
    found = json.loads(Store(place.runs).find("last").result_text())
    assert (found["grown"], len(found["not_looked_at"])) == ([], 1)


def test_without_being_longer_what_grew_is_looked_for_where_it_is_asked_for(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    base, nothing = place.system("base"), place.system("nothing", "nothing")
    for more, looked in (((), False), (("--explain",), True)):
        assert run(["gate", nothing, "--against", base, *more, "--runs", str(place.runs)]) == 0
        assert ("not looked at" in capsys.readouterr().out) is looked


def test_of_what_is_on_record_a_profile_is_looked_for(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.on_record("try", place.system("base"), "cmdline_quiet", "--no-stack")
    words = ["gate", place.system("slower", "slower"), "--against", "1", "--runs", str(place.runs)]
    assert run(words) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "files: what it is held against is on record, without them" in said
    assert "no run here has a profile of 1's inputs: bootlab profile makes one" in said


@pytest.mark.parametrize(("seeds", "says"), [([1, 1, 2], "3 boots with 2 seeds"), ([*range(1, 1001)], "1000 boots")])
def test_seeds_that_no_gate_would_boot_are_refused(seeds: list[int], says: str, place: Place) -> None:
    """A line of a ledger is anybody's who may write to its repository: it does not make a job boot for hours."""
    place.on_record("try", place.system("small"), "cmdline_quiet", "--no-stack")
    assert run(["ledger", "add", "--label", "v1", "--runs", str(place.runs)]) == 0
    path = place.folder / "ledger" / "small.jsonl"
    line = json.loads(path.read_text())
    path.write_text(json.dumps(line | {"seeds": seeds, "seeds_ns": [line["seeds_ns"][0]] * len(seeds)}) + "\n")
    with pytest.raises(InputError, match=says):
        gate(place, place.system("small"), "ledger")


def test_a_figure_that_there_is_not_is_told_before_the_other_side_is_booted(place: Place) -> None:
    base = place.system("base")
    with pytest.raises(InputError, match="has no such phase"):
        gate(place, base, base, "--on", "phase:lunch")
    booted = [path.name for path in Store(place.runs).find("last").records()]
    assert booted and all(name.startswith("before") for name in booted)


def test_what_keeps_it_from_an_answer_is_not_read_as_longer(place: Place) -> None:
    place.on_record("try", place.system("small"), "cmdline_quiet", "--no-stack")
    assert run(["ledger", "add", "--label", "v1", "--runs", str(place.runs)]) == 0
    path = place.folder / "ledger" / "small.jsonl"
    path.write_text(f"<<<<<<< HEAD\n{path.read_text()}")
    with pytest.raises(InputError, match="a merge has left a conflict"):
        gate(place, place.system("small"), "ledger")


def test_a_gates_run_is_no_baseline(place: Place) -> None:
    base = place.system("base")
    gate(place, base, base)
    with pytest.raises(InputError, match="is a comparison"):
        gate(place, base, str(Store(place.runs).find("last").path))


def test_wrong_words_are_told(place: Place) -> None:
    base = place.system("base")
    with pytest.raises(InputError, match="not a time or a share"):
        gate(place, base, base, "--limit", "soon")
    with pytest.raises(InputError, match="no such run"):
        gate(place, base, "nothing-such")
    with pytest.raises(InputError, match="no ledger there"):
        gate(place, base, "ledger")
    with pytest.raises(InputError, match="no such file"):
        gate(place, base, "nothing-such.toml")


def test_help_and_the_page_of_documentation_say_what_each_column_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gate", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    page = (Path(__file__).parents[3] / "docs" / "ci.md").read_text()
    for name in ("baseline", "now", "change", "limit", "detectable"):
        assert f"; {name}," in told or f": {name}," in told
        assert f"| `{name}`" in page
