"""What of an extension is broken is told once, on standard error, at the end of a verb, and never while completing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.cli.terminal.broken_extensions import telling_broken
from bootlab.errors import InputError
from bootlab.extensions.broken import forget_broken, note_broken, noted

GOOD = Path(__file__).parents[3] / "examples" / "microvm" / "hello.toml"


@pytest.fixture(autouse=True)
def nothing_noted() -> Iterator[None]:
    forget_broken()
    yield
    forget_broken()


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    """An extension with a file that cannot be imported, whose words try to steer the terminal."""
    path = tmp_path / "techniques" / "cmdline" / "bad.py"
    path.parent.mkdir(parents=True)
    path.write_text("raise ValueError('\\x1b[31mred')\n")
    return tmp_path


def test_a_verb_does_its_work_and_then_names_what_is_broken(
    extension: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["techniques", "--extensions", str(extension), "--json", "cmdline_quiet"]) == 0
    said = capsys.readouterr()
    assert '"cmdline_quiet"' in said.out
    assert said.err.startswith(
        f"bootlab: warning: extension: {extension}/techniques/cmdline/bad.py: line 1: ValueError"
    )
    assert said.err.count("\n") == 1 and "\x1b" not in said.err
    assert not noted()


def test_it_is_named_also_where_the_verb_ends_with_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError), telling_broken():
        note_broken("x.py", "why")
        raise InputError("other")
    assert capsys.readouterr().err == "bootlab: warning: extension: x.py: why\n"


def test_a_shell_that_completes_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_BOOTLAB_COMPLETE", "complete_bash")
    with telling_broken():
        note_broken("x.py", "why")
    assert capsys.readouterr().err == ""


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for verb in (["techniques"], ["import", "x"]):
        with pytest.raises(InputError, match=r"--extensions .*no such folder"):
            run([*verb, "--extensions", str(tmp_path / "x")])
