"""`bootlab report` of runs whose files somebody damaged: an error that names the file, or the run; nothing else."""

import json
import math
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import BootlabError, InputError, StoreError
from bootlab.experiments.recorded_profiles import read_profile_run
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.profile.recorded.reader import read_profile
from bootlab.report.parts.console import read_consoles
from tests.cli.conftest import write_profile_run
from tests.cli.recorded_runs import RUNS, audit_run, compare_run, import_run, measure_run, profile_run, tailor_run

STEERS = "\x1b]0;owned\x07\x1b[31m"
VALUES = (
    None, True, -1, 10**30, -(10**30), 1.5, math.nan, math.inf, "", "x", STEERS, "\udcff", [], {}, [None], {"a": None},
)  # fmt: skip
CASES = 1
"""Of each document of each kind, beside one that is cut and one that is nested too deeply."""


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each value in a document; of long lists that to the first ones."""
    yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, one in inside:
        yield from places(one, (*at, key))


def put(document: Any, at: tuple[Any, ...], value: Any) -> Any:
    """Return the document with another value at a place."""
    if not at:
        return value
    changed = document.copy()
    changed[at[0]] = put(document[at[0]], at[1:], value)
    return changed


def show(of: Run, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Show a run; return what is printed, which steers no terminal, or the error, which names a file of the run."""
    try:
        run(["report", str(of.path), *words])
    except BootlabError as error:
        capsys.readouterr()
        assert str(of.path) in error.message
        return error.message
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    return said.out


@pytest.mark.parametrize("kind", RunKind)
def test_whatever_is_wrong_in_a_document_is_told(
    kind: RunKind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few of the millions of mistakes that there can be, always the same ones."""
    chance = random.Random(kind.value)
    made = RUNS[kind](Store(tmp_path))
    boots = sorted(made.path.glob("boots/*"))[:1]
    for path in sorted(path for place in (made.path, *boots) for path in place.glob("*.json")):
        text = path.read_text()
        document = json.loads(text)
        everywhere = list(places(document))
        for _ in range(CASES):
            path.write_text(json.dumps(put(document, chance.choice(everywhere), chance.choice(VALUES))))
            show(made, capsys)
        for damage in (text[: chance.randrange(len(text))], "[" * 5000):
            path.write_text(damage)
            show(made, capsys)
        path.write_text(text)


@pytest.mark.parametrize("kind", [RunKind.COMPARE, RunKind.PROFILE, RunKind.AUDIT, RunKind.IMPORT, RunKind.TAILOR])
def test_something_else_in_the_place_of_a_file(
    kind: RunKind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe there would be waited for, a folder is no reason for a traceback."""
    made = RUNS[kind](Store(tmp_path))
    for path in sorted(one for one in made.path.rglob("*") if one.is_file()):
        data = path.read_bytes()
        path.unlink()
        path.mkdir()
        show(made, capsys)
        path.rmdir()
        os.mkfifo(path)
        show(made, capsys)
        path.unlink()
        path.write_bytes(data)


def change(path: Path, at: tuple[Any, ...], value: Any) -> None:
    path.write_text(json.dumps(put(json.loads(path.read_text()), at, value)))


def test_a_number_that_json_does_not_have_is_damage(tmp_path: Path) -> None:
    made = tailor_run(Store(tmp_path))
    change(made.result, ("steps", 1, "build_s"), math.nan)
    with pytest.raises(StoreError, match=r"result\.json: damaged: NaN is no number of JSON"):
        run(["report", str(made.path), "--json"])


def test_a_time_that_no_clock_can_have_is_damage(tmp_path: Path) -> None:
    """Two of them are taken from each other in 64 bits."""
    made = profile_run(Store(tmp_path / "profile"))
    record = made.path / "boots/1/record.json"
    change(record, ("marks", "initcalls_start"), -(10**30))
    with pytest.raises(StoreError, match=r"record\.json: damaged: marks\.initcalls_start: "):
        run(["report", str(made.path)])
    made = import_run(Store(tmp_path / "import"))
    change(made.result, ("imported", 0, "recording", "timeline", "spans", 0, "end_ns"), 10**30)
    with pytest.raises(StoreError, match=r"result\.json: damaged: imported\.0\.recording\.timeline\.spans\.0\.end_ns"):
        run(["report", str(made.path)])


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (("marks",), {"power_on": 0}, "marks.ready: missing, and outcome is ready"),
        (("marks", "ready"), -1, "marks.ready: it was ready after -1 ns, load included"),
        (("timings_ns",), {"a": -1}, "timings_ns.a: Input should be greater than or equal to 0"),
    ],
)
def test_a_boot_that_was_ready_at_no_time_is_damage(tmp_path: Path, at: tuple[str, ...], value: Any, said: str) -> None:
    made = measure_run(Store(tmp_path / "runs"))
    record = min(made.path.glob("boots/*/record.json"))
    record.write_text(json.dumps({"timings_ns": {}, **json.loads(record.read_text())}))
    change(record, at, value)
    ledger = ["ledger", "add", str(made.path), "--label", "x", "--ledger", str(tmp_path / "ledger")]
    for words in (["report", str(made.path)], ledger):
        with pytest.raises(StoreError) as error:
            run(words)
        assert f"record.json: damaged: {said}" in error.value.message


def test_a_name_that_is_no_text_is_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = import_run(Store(tmp_path))
    change(made.result, ("imported", 0, "recording", "timeline", "spans", 1, "name"), "\udcff")
    show(made, capsys)
    assert "\\udcff" in (made.path / "report.html").read_text()


def test_no_word_of_a_run_steers_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared, audited, tailored = (make(Store(tmp_path)) for make in (compare_run, audit_run, tailor_run))
    change(compared.result, ("detail",), STEERS)
    change(audited.audit, ("findings", 0, "technique"), STEERS)
    change(tailored.result, ("steps", 1, "label"), STEERS)
    for made in (compared, audited, tailored):
        show(made, capsys)


def test_a_boot_that_a_comparison_lacks_is_named_with_the_comparison(tmp_path: Path) -> None:
    made = compare_run(Store(tmp_path))
    change(made.result, ("before_runs", 0), "elsewhere")
    with pytest.raises(StoreError, match=r"result\.json: a boot that it compares: elsewhere: no record\.json"):
        run(["report", str(made.path)])
    change(made.path / "run.json", ("asked", "systems"), 5)
    with pytest.raises(StoreError, match=r"run\.json: damaged: asked\.systems: is not a list"):
        run(["report", str(made.path)])


@contextmanager
def unreadable(path: Path) -> Iterator[None]:
    """Let nobody read a folder, and be somebody whom that stops."""
    mode, user = path.stat().st_mode, os.geteuid()
    path.chmod(0)
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        path.chmod(mode)


def test_what_may_not_be_read_is_not_told_as_gone(tmp_path: Path) -> None:
    made = profile_run(Store(tmp_path))
    boot = made.path / "boots/1"
    with unreadable(boot):
        with pytest.raises(StoreError, match=r"console\.log: cannot be read: Permission denied"):
            read_consoles([("boot", str(boot))])
        with pytest.raises(InputError, match=r"profile\.bin: Permission denied"):
            read_profile(boot / "profile.bin", [], 0)
    with unreadable(made.path / "boots"), pytest.raises(StoreError, match="boots: cannot be read: Permission denied"):
        read_profile_run(made)


def test_an_index_that_is_none_hides_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tailor_run(Store(tmp_path))
    (tmp_path / "index.jsonl").unlink()
    (tmp_path / "index.jsonl").mkdir()
    assert run(["report", "--list", "--runs", str(tmp_path)]) == 0
    assert made.path.name in capsys.readouterr().out


def test_a_damaged_run_hides_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path)
    runs = [make(store) for make in (compare_run, audit_run, tailor_run)]
    (runs[1].path / "run.json").write_text("{")
    (tmp_path / "index.jsonl").write_text('{"run": "0001-')
    assert run(["report", "--list", "--runs", str(tmp_path)]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == [made.path.name for made in runs]
    assert "damaged" in listed[1]


def test_a_profile_of_a_killed_machine_whose_first_stack_is_damaged(tmp_path: Path) -> None:
    made = write_profile_run(tmp_path, size=-40)
    path = made.path / "boots/1/profile.bin"
    # Its root: no parent, and the first function.
    path.write_bytes(path.read_bytes().replace(b"\xff\xff\xff\xff\0\0\0\0", b"\xff\xff\xff\xff\0\0\x84\0", 1))
    with pytest.raises(InputError, match=r"profile\.bin: damaged: its first node is not the root of all"):
        run(["report", str(made.path)])
