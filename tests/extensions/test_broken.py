"""What is broken is remembered once, in words of one line that name the line of the file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.extensions.broken import Broken, forget_broken, note_broken, noted, why_it_fails


@pytest.fixture(autouse=True)
def nothing_noted() -> Iterator[None]:
    forget_broken()
    yield
    forget_broken()


def failing(code: str, file: Path) -> BaseException:
    try:
        exec(compile(code, str(file), "exec"), {})
    except BaseException as error:
        return error
    raise AssertionError("it did not fail")


def test_the_same_is_told_once() -> None:
    note_broken("a.py", "why")
    note_broken("b.py", "why")
    note_broken("a.py", "why")
    assert noted() == (Broken("a.py", "why"), Broken("b.py", "why"))
    forget_broken()
    assert noted() == ()


def test_an_error_is_one_line_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    error = failing("def f():\n    raise ValueError('a\\nb')\n\nf()\n", file)
    assert why_it_fails(error, file) == "line 2: ValueError: a b"
    assert why_it_fails(error) == "ValueError: a b"
    assert why_it_fails(failing("x = (\n", file), file).startswith("line 1: SyntaxError: '(' was never closed")
    assert why_it_fails(KeyError()) == "KeyError"
