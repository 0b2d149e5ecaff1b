"""Going on with interrupted runs: what is refused, and what is said when one stops."""

from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from bootlab.cli.app import run
from bootlab.cli.resuming import Question, digest, kept, settle
from bootlab.errors import InputError, Interrupted, StoreError
from bootlab.experiments.store import RunKind, Store
from bootlab.system import System, read_system
from scripts.new_part.run import main as new_part
from tests.cli.conftest import SYSTEM as MADE_UP

SYSTEM = Path("made-up.toml")


class Asked(BaseModel):
    seeds: int
    system: str = ""


NOW = Asked(seeds=3)


def begun(store: Store, kind: RunKind = RunKind.TRY) -> Question[Asked]:
    """Return a question whose run is in the store, as the first call leaves it."""
    question = settle(store, None, kind, "made-up", NOW, [])
    question.begin(store, Asked(seeds=7, system="then"), file="made-up.toml")
    return question


def test_a_run_goes_on_with_what_it_was_asked(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert begun(store).resumed is None
    again = settle(store, "last", RunKind.TRY, "made-up", NOW, [None, None])
    assert again.asked == Asked(seeds=7, system="then")
    run = again.begin(store, again.asked)
    assert run == again.resumed and run.file == "made-up.toml"
    assert len(store.runs()) == 1, "nothing new has begun"


@pytest.mark.parametrize(
    ("kind", "system", "options", "said"),
    [
        (RunKind.SWEEP, "made-up", [None], "that run is a try of made-up, not a sweep of made-up"),
        (RunKind.TRY, "another", [None], "that run is a try of made-up, not a try of another"),
        (RunKind.TRY, "made-up", [None, 5], "give the system and --resume only"),
    ],
)
def test_what_does_not_fit_is_refused(
    kind: RunKind, system: str, options: list[object], said: str, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    begun(store)
    with pytest.raises(InputError, match=f"--resume 1: .*{said}"):
        settle(store, "1", kind, system, NOW, options)


def test_a_run_that_does_not_say_what_was_asked(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.start(RunKind.TRY, "made-up", {"seeds": "several"})
    with pytest.raises(InputError, match="does not say what was asked of it"):
        settle(store, "last", RunKind.TRY, "made-up", NOW, [])


def test_a_changed_system_is_another_question(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert digest(MADE_UP) == digest(System.model_validate(MADE_UP)) != digest(MADE_UP.with_seed(9))
    begun(store).expect_unchanged("then", "now")
    again = settle(store, "last", RunKind.TRY, "made-up", NOW, [])
    again.expect_unchanged("then", "then")
    with pytest.raises(InputError, match="the system file has changed since that run began"):
        again.expect_unchanged("then", "now")


@pytest.mark.parametrize(
    ("kind", "verb"),
    [
        (RunKind.TRY, "try"),
        (RunKind.SWEEP, "sweep"),
        (RunKind.STUDY, "study compression"),
        (RunKind.TAILOR, "tailor"),
    ],
)
def test_a_run_that_stops_says_how_to_go_on(kind: RunKind, verb: str, tmp_path: Path) -> None:
    run = Store(tmp_path).start(kind, "made-up", {})
    go_on = f"go on with: bootlab {verb} made-up.toml --resume {run.path}"
    in_pydantic = PydanticSerializationError("Error serializing to JSON: KeyboardInterrupt: ")
    for stop in (KeyboardInterrupt(), Interrupted("interrupted"), in_pydantic):
        with pytest.raises(Interrupted, match=f"kept, in {run.path} and the cache") as stopped, kept(run, SYSTEM):
            raise stop
        assert stopped.value.hint == go_on
    with pytest.raises(StoreError) as full, kept(run, SYSTEM):
        raise StoreError("cannot write", hint="free some space")
    assert full.value.hint == f"free some space; then {go_on}"
    with pytest.raises(StoreError) as refused, kept(run, SYSTEM):
        raise StoreError("cannot write")
    assert refused.value.hint == f"then {go_on}"


def test_another_error_is_no_interruption(tmp_path: Path) -> None:
    run = Store(tmp_path).start(RunKind.TRY, "made-up", {})
    for error in (ValueError("KeyboardInterrupt"), PydanticSerializationError("Unable to serialize")):
        with pytest.raises(ValueError) as caught, kept(run, SYSTEM):
            raise error
        assert caught.value is error


def test_two_at_once_do_not_work_on_one_run(tmp_path: Path) -> None:
    run = Store(tmp_path).start(RunKind.TRY, "made-up", {})
    with kept(run, SYSTEM), pytest.raises(InputError, match="another bootlab works on this run"), kept(run, SYSTEM):
        pass


def test_a_trial_does_not_go_on_with_another_file_of_a_strangers_technique(tmp_path: Path) -> None:
    assert new_part(["technique", "cmdline_stranger", "--in", str(tmp_path / "extension")]) == 0
    technique = tmp_path / "extension/techniques/cmdline/stranger.py"
    words = technique.read_text().replace(
        "FILL IN: completes the sentence: This technique ...", "is a stranger's alone"
    )
    technique.write_text(words.replace("FILL IN: ", ""))
    system = tmp_path / "system.toml"
    system.write_text(
        'name = "made-up"\nextensions = ["extension"]\n[machine]\ntype = "q35"\n[kernel]\npackage = "linux"\n'
        '[booted]\nconsole = "login:"\n'
    )
    asked = {"techniques": ["cmdline_stranger"], "plan": "gain", "seeds": 3, "nulls": 3}
    asked |= {"system": digest(read_system(system)), "outside": {"cmdline_stranger": "0" * 64}}
    Store(tmp_path / "runs").start(RunKind.TRY, "made-up", asked)
    with pytest.raises(InputError, match="the file of cmdline_stranger, which is not bootlab's own, has changed"):
        run(["try", str(system), "--resume", "last", "--runs", str(tmp_path / "runs")])
