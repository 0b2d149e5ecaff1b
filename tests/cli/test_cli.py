"""The command line as a user meets it: help, JSON, exit codes, completion. Boots are in tests/boot."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic_core import PydanticSerializationError
from typer.core import TyperGroup

from bootlab.cli import app, main
from bootlab.cli.app import run
from bootlab.cli.options.arguments import complete_system, complete_technique
from bootlab.errors import BootlabError, InputError

ROOT = Path(__file__).parents[2]
VERBS = [
    "boot",
    "measure",
    "try",
    "compare",
    "profile",
    "advise",
    "audit",
    "unused",
    "watch",
    "techniques",
    "report",
    "doctor",
]


def bootlab(*words: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "bootlab", *words],
        capture_output=True,
        text=True,
        cwd=cwd or ROOT,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
    )


def test_help_lists_every_verb() -> None:
    done = bootlab("--help")
    assert done.returncode == 0
    for verb in VERBS:
        assert f"\n  {verb} " in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help_and_json(verb: str) -> None:
    done = bootlab(verb, "--help")
    assert done.returncode == 0
    assert "--json" in done.stdout
    assert len(done.stdout.splitlines()[2].strip()) > 20, "a sentence that says what it does"


def every_verb() -> Iterator[list[str]]:
    """Yield the words of each verb, and of those of groups."""
    for name in app.VERBS:
        made = app.read_verb(name)
        yield [name]
        yield from ([name, one] for one in made.commands) if isinstance(made, TyperGroup) else ()


def test_help_says_what_each_option_takes(capsys: pytest.CaptureFixture[str]) -> None:
    for words in every_verb():
        assert run([*words, "--help"]) == 0
        options = capsys.readouterr().out.partition("\nOptions:")[2]
        assert not re.search(r"<(int|float|str|text|path)\b[^>|]*>", options), f"{words}: {options}"


def test_help_lists_each_verb_by_a_whole_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["ledger"], ["build"], ["init"]):
        assert run([*words, "--help"]) == 0
        verbs = capsys.readouterr().out.partition("\nCommands:")[2]
        assert verbs and "..." not in verbs


def test_a_group_without_a_verb_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    groups = [name for name in app.VERBS if isinstance(app.read_verb(name), TyperGroup)]
    assert {"cache", "ledger", "build", "runs", "init", "host", "ec2", "study"} == set(groups)
    for name in groups:
        assert run([name, "--help"]) == 0
        asked = capsys.readouterr().out
        assert run([name]) == InputError.exit_code
        assert capsys.readouterr() == ("", asked)


def test_techniques_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["techniques", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "bootlab.techniques/1"
    assert len(document["techniques"]) >= 20
    assert {technique["layer"] for technique in document["techniques"]} >= {
        "machine",
        "firmware",
        "cmdline",
        "initramfs",
    }
    assert "demo" in document["plans"]


def test_one_technique_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["techniques", "cmdline_cryptomgr_notests"]) == 0
    text = capsys.readouterr().out
    assert "cryptomgr.notests" in text
    assert "FIPS" in text


def test_plans(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["techniques", "--plans"]) == 0
    assert "microvm-2024" in capsys.readouterr().out


@pytest.mark.promise("bootlab doctor")
def test_doctor_finds_what_every_boot_needs_and_says_how_to_get_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    tools = {tool["name"]: tool for tool in json.loads(capsys.readouterr().out)["tools"]}
    assert tools["qemu-system-x86_64"]["found"] and tools["qemu-system-x86_64"]["version"]
    assert all(tool["found"] for tool in tools.values() if tool["needed"])
    assert all(tool["hint"] for tool in tools.values() if not tool["found"])


def test_no_runs_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--list", "--json", "--runs", str(tmp_path / "none")]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": "bootlab.runs/1", "runs": []}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["boot"], "Missing argument 'SYSTEM'"),
        (["frob"], "No such command 'frob'"),
        (["boot", "x.toml", "--seed", "0"], "--seed"),
        (["boot", "/nonexistent.toml"], "no such file"),
        (["try", "examples/debian-cloud.toml", "no_such_technique"], "no such technique"),
        (["try", "examples/debian-cloud.toml", "--plan", "nonsense"], "no such plan"),
        (
            ["boot", "examples/persistence/kept-board.toml", "--power-on", "self-refresh:"],
            "nothing follows the last colon",
        ),
        (["try", "examples/debian-cloud.toml", "--no-alone"], "--no-alone: plan gain stacks what helped alone"),
        (["try", "examples/debian-cloud.toml", "--no-alone", "--no-stack"], "nothing would be measured"),
        (
            ["try", "examples/debian-cloud.toml", "--from-mark", "late", "--cluster", "local:2"],
            "machines are kept on this host",
        ),
        (["try", "examples/debian-cloud.toml", "--from-mark", "two words"], "--from-mark 'two words'"),
        (
            ["compare", "examples/debian-cloud.toml", "examples/debian-cloud.toml", "--from-mark", "two words"],
            "--from-mark 'two words'",
        ),
        (["report", "no-such-run"], "no such run"),
        (["compare", "1", "2"], "no such run"),
    ],
)
def test_wrong_use(words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("BOOTLAB_RUNS", str(tmp_path))
    with pytest.raises(InputError, match=message) as caught:
        run(words)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["frob"], "bootlab --help"),
        (["build", "x.toml"], "bootlab build --help"),
        (["boot", "-q"], "bootlab boot --help"),
    ],
)
def test_wrong_use_says_which_help_lists_what_there_is(words: list[str], hint: str) -> None:
    with pytest.raises(InputError) as caught:
        run(words)
    assert caught.value.hint == f"{hint} lists what there is"


LONG = "x" * 5000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sweep", "s.toml", "--csv", LONG], "--csv xxx.*: File name too long"),
        (["sweep", "s.toml", "--csv", "loop"], "--csv loop: Too many levels of symbolic links"),
        (["study", "compression", "s.toml", "--csv", LONG], "--csv xxx.*: File name too long"),
        (["build", "rootfs", "--output", LONG, "--init", LONG], "File name too long|no such file"),
        (["build", "initramfs", "--init", LONG, "--output", "x"], "no such file"),
        (["build", "initramfs", "--init", "loop", "--output", "x"], "no such file"),
        (["build", "initramfs", "--init", "loop", "--output", "loop"], "--output loop: Too many levels"),
        (["report", LONG], "no such run"),
        (["import", LONG], "File name too long"),
    ],
)
def test_a_path_that_cannot_be(words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Told before anything is made or booted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOOTLAB_RUNS", str(tmp_path))
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match=message):
        run(words)


def test_completion_of_what_cannot_be_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    for typed in ("loop/", f"{LONG}/", "gone/", ""):
        assert complete_system(typed) == []


def test_errors_reach_the_user_as_two_lines(tmp_path: Path) -> None:
    done = bootlab("boot", "nope.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[0] == "bootlab: error: nope.toml: no such file"
    assert done.stderr.splitlines()[1].startswith("  hint: ")
    assert "Traceback" in bootlab("--debug", "boot", "nope.toml", cwd=tmp_path).stderr


def test_a_path_that_no_system_file_can_hold(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.img")
    path.write_bytes(b"MZ")
    with pytest.raises(InputError, match="its path is not UTF-8"):
        run(["boot", str(path), "--write-system", str(tmp_path / "system.toml")])


def test_an_error_cannot_steer_the_terminal(tmp_path: Path) -> None:
    done = bootlab("boot", "\x1b]0;owned\x07\x1b[31mred\x08.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "bootlab: error: red\\x08.toml: no such file"


def test_ctrl_c_while_json_is_written_is_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pydantic wraps what reaches it there."""

    def interrupted(words: list[str]) -> int:
        raise PydanticSerializationError("Error serializing to JSON: KeyboardInterrupt: ")

    monkeypatch.setattr("bootlab.cli.app.run", interrupted)
    monkeypatch.setattr("bootlab.cli.guard_streams", lambda: None)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert ended.value.code == 130
    assert capsys.readouterr().err == "bootlab: error: interrupted\n"


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m bootlab techniques | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_completion_offers_systems_and_techniques(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert complete_system("examples/debian-c") == ["examples/debian-cloud.toml"]
    assert "cmdline_quiet" in complete_technique("cmdline_q")
    done = subprocess.run(
        [sys.executable, "-m", "bootlab"],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "_BOOTLAB_COMPLETE": "complete_bash",
            "COMP_WORDS": "bootlab me",
            "COMP_CWORD": "1",
        },
    )
    assert done.stdout.split() == ["measure"]


def test_import_is_cheap() -> None:
    """What every call pays: the heavy libraries wait until something needs them."""
    code = "import sys, bootlab.cli; print([m for m in ('scipy', 'numpy', 'typer') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_every_error_has_an_exit_code() -> None:
    kinds = [BootlabError, *BootlabError.__subclasses__()]
    assert {kind.exit_code for kind in kinds} <= {1, 2, 3, 130}
