"""The shell of a real machine, as a system file names it."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from tests.system.files import _read_board

BOARD = """
[machine]
type = "armv7-board"
[target]
kind = "serial"
port = "/dev/ttyUSB0"
power_on = "true"
[target.shell]
SHELL
[booted]
console = "login:"
"""


@pytest.mark.parametrize(
    ("shell", "complaint"),
    [
        ("", "target.shell: give exactly one of command (as ssh) and prompt"),
        ('prompt = "#"\ncommand = "ssh"', "target.shell: give exactly one of command (as ssh) and prompt"),
        ('prompt = "("', "target.shell.prompt: not a regular expression"),
        ('prompt = "#"\nkeeps = { "a/b" = "x" }', "is no name of a file"),
        ('prompt = "#"\nkeeps = { a = "x\\ny" }', "target.shell.keeps.a: is not one line"),
        ('prompt = "#"\ndeadline_s = 0', "target.shell.deadline_s"),
        ('prompt = "#"\nquestions = 1', "target.shell.questions"),
    ],
)
def test_what_cannot_be_is_named(shell: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        _read_board(tmp_path, BOARD.replace("SHELL", shell))
    assert complaint in caught.value.message


def test_a_host_has_no_line_to_prompt_on(tmp_path: Path) -> None:
    host = '[target]\nkind = "host"\nhost = "192.0.2.7"\n[target.shell]\nprompt = "#"\n'
    with pytest.raises(InputError, match="shell.prompt is of a serial line"):
        _read_board(tmp_path, host)
