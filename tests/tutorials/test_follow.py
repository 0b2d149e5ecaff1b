"""A reader's shell goes on from line to line, stops at what fails, and finds nothing of this checkout but its copy."""

import subprocess
from pathlib import Path

import pytest

from tests.tutorials import follow as following
from tests.tutorials.follow import ROOT, Reader, copy_checkout, follow, main, reader_environment, summary
from tests.tutorials.promises import PROMISES
from tests.tutorials.steps import parse_tutorial

SHORT = """```sh
export SAID="all is well" PATH="$PWD/.venv/bin:$PATH"
mkdir ~/first && cd ~/first
exit 7  # an aside, hours: nobody has them
```

```toml before.toml
[machine]
```

```sh
cat before.toml && pwd && echo "$SAID" 1.05 ms
echo "$PATH"
```

```text
[machine]
all is well 1.00 ms
```
"""


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path, reader_environment(tmp_path, None))


def test_a_tutorial_is_followed_in_a_copy_from_an_empty_home(tmp_path: Path) -> None:
    tutorial = parse_tutorial("short", SHORT)
    home = tmp_path / "home"
    reader = follow(tutorial, home)
    assert reader.folder == home / "first"
    assert f"[machine]\n{home}/first\nall is well 1.05 ms\n" in reader.said
    assert f"\n{home}/bootlab/.venv/bin:" in reader.said
    assert {path.name for path in home.iterdir()} == {"bootlab", "first"}
    assert reader.ran == [command.line for command in tutorial.commands if not command.is_aside]
    assert summary(tutorial).splitlines()[0] == "short: 4 commands are run, 1 left out"
    assert "left out  exit 7    (hours: nobody has them)" in summary(tutorial)


@pytest.mark.parametrize(
    ("shown", "other"), [("all is well 1.00", "all is bad 1.00"), ("1.00", "100.00"), ("[machine]\n", "[machin]\n")]
)
def test_what_is_not_printed_was_promised_in_vain(shown: str, other: str, tmp_path: Path) -> None:
    head, _, promised = SHORT.partition("```text\n")
    assert shown in promised
    with pytest.raises(AssertionError, match=r"short\.md, line 16: nothing printed this"):
        follow(parse_tutorial("short", f"{head}```text\n{promised.replace(shown, other)}"), tmp_path / "home")


@pytest.mark.parametrize("line", ["false", "mkdir no/such && cd no", "cd no/such && true", "bootlab no"])
def test_a_line_that_fails_ends_it(line: str, reader: Reader) -> None:
    reader.environment["PATH"] = "/usr/bin:/bin"
    with pytest.raises(AssertionError, match="exit code [1-9]"):
        reader.type_line(line)


def test_a_line_that_catches_a_failure_goes_on(reader: Reader) -> None:
    assert reader.type_line('false || echo "exit code $?"') == "exit code 1\n"


def test_a_reader_has_nothing_that_leads_to_this_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "BOOTLAB_RUNS BOOTLAB_CACHE PYTHONPATH XDG_CACHE_HOME VIRTUAL_ENV MAKEFLAGS MAKELEVEL".split():
        monkeypatch.setenv(name, "/somewhere")
    monkeypatch.setenv("PATH", f"{ROOT}/.venv/bin:/usr/bin:/bin")
    monkeypatch.setenv("PIP_RETRIES", "3")
    cold, warm = reader_environment(tmp_path, None), reader_environment(tmp_path, Path("/kept"))
    assert "/somewhere" not in cold.values()
    assert (cold["HOME"], cold["PATH"], cold["PIP_RETRIES"]) == (str(tmp_path), "/usr/bin:/bin", "3")
    assert warm == cold | {"BOOTLAB_CACHE": "/kept"}


def test_the_copy_has_what_is_kept_in_git_and_nothing_that_was_built(tmp_path: Path) -> None:
    copy_checkout(tmp_path / "copy")
    copied = {str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*")}
    assert {"Makefile", "scripts/setup", "bootlab/build/cache.py", "requirements.lock"} <= copied
    assert not [path for path in copied if path.split("/")[0] in {".git", ".venv", "build", "bootlab-runs"}]
    assert not [path for path in copied if path.endswith(".so") or "__pycache__" in path]
    made = ["make", "--dry-run", "setup"]
    assert "scripts/setup run" in subprocess.run(made, cwd=tmp_path / "copy", capture_output=True, text=True).stdout


def test_the_command_says_what_it_ran_and_left_out_and_which_tutorial_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read = [parse_tutorial("short", SHORT), parse_tutorial("wrong", "```sh\necho begun\nfalse\n```\n")]
    monkeypatch.setattr(following, "tutorials", lambda: read)
    monkeypatch.setitem(PROMISES, "short", lambda folder, said: None)
    monkeypatch.setattr("sys.argv", ["follow", "--list"])
    assert main() == 0
    listed = capsys.readouterr().out
    assert "short: 4 commands are run, 1 left out" in listed and "wrong: 2 commands are run, 0 left out" in listed
    monkeypatch.setattr("sys.argv", ["follow"])
    assert main() == 1
    said, error = capsys.readouterr()
    assert "s: 4 commands run, 1 left out\n" in said and "$ echo begun\nbegun\n$ false\n" in said
    assert "tutorial-test: wrong: failed after" in error and "false: exit code 1" in error
    monkeypatch.setattr("sys.argv", ["follow", "other"])
    with pytest.raises(SystemExit):
        main()
    assert "no such tutorial: other; there are short, wrong" in capsys.readouterr().err
