"""Asks the shell of a system that has booted: a script of one line a question, and what came back of it.

    for question in questions: begin NAME; COMMAND, packed where gzip and base64 are there; end NAME
    over

The same lines are one script for `ssh HOST sh`, and are typed one by one at the prompt of a serial line, where the
console may say something in between: what is packed is known to be whole, or not, by gzip's own sum.
"""

import base64
import re
import secrets
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from bootlab.errors import InputError
from bootlab.system import ShellAccess, words_of
from bootlab.targets.power import run_command

ANSWERS: Final = "answers.txt"
"""What a shell has said, in a boot's directory."""
_PACK: Final = "gzip -c | base64"
_QUIETEN: Final = "dmesg -n 1 2>/dev/null"
"""Keeps the kernel's lines out of the answers on a console."""
_DEFAULT: Final = {
    "dmesg": "dmesg",
    "systemd-show": "if command -v systemctl >/dev/null; then systemctl show; fi",
    "systemd-plot": "if command -v systemd-analyze >/dev/null; then systemd-analyze plot; fi",
    "trace": "t=/sys/kernel/tracing/trace; if grep -qsv '^#' $t; then cat $t; fi",
}
"""What every profile asks for: the kernel's log, systemd's own times, and a trace, where its boot has made one."""
_GZIP: Final = 31
"""zlib's word for a stream with gzip's head and sum."""
MOST_BYTES: Final = 512 << 20
"""Of all answers together, and of one when it is unpacked."""


@dataclass(frozen=True, slots=True)
class Telling:
    """How a real machine tells what its boot did. `access`: its shell; None where the system file does not name it.

    `delivers`: the kernel's words are brought to it, so that its kernel can be told to tell.
    """

    access: ShellAccess | None
    delivers: bool

    def require_access(self, why: str) -> ShellAccess:
        """Return how its shell is reached. Raises InputError where the system file does not say, with `why` it must."""
        if self.access is None:
            raise InputError(
                f"target.shell: missing: {why}",
                hint='add [target.shell] with command = ["ssh", "root@HOST", "sh"], or with prompt = "# $" for that '
                "of a serial line (docs/profiling.md); bootlab import reads what a machine has recorded by itself",
            )
        return self.access


@dataclass(frozen=True, slots=True)
class ShellQuestions:
    """What a system is asked. `commands`: name -> command of its shell."""

    commands: Mapping[str, str]
    access: ShellAccess
    nonce: str = field(default_factory=lambda: secrets.token_hex(8))
    """In every line that parts the answers, so that no answer has it by chance."""

    @classmethod
    def of(cls, access: ShellAccess) -> "ShellQuestions":
        """Return those of every profile, and what the system file wants kept besides."""
        return cls({**_DEFAULT, **access.keeps}, access)

    @property
    def lines(self) -> list[str]:
        """Return the script, one command a line. What a terminal echoes of it is not what its answers look like."""
        part = f'\'\\nbootlab-%s-%s %s\\n\' "$1" {self.nonce} "$2"'
        return [
            f"p() {{ printf {part}; }}",
            f"k() {{ if command -v gzip >/dev/null && command -v base64 >/dev/null; then p packed $1; {_PACK}; "
            "else p plain $1; cat; fi; p end $1; }",
            _QUIETEN,
            *(f"{{ {command}; }} 2>/dev/null </dev/null | k {name}" for name, command in self.commands.items()),
            "p over",
        ]

    @property
    def script(self) -> bytes:
        """Return the same as one text."""
        return "".join(f"{line}\n" for line in self.lines).encode()

    @property
    def end(self) -> re.Pattern[bytes]:
        """Return what the last line of all answers looks like."""
        return re.compile(rf"^bootlab-over-{self.nonce} ?\r*$".encode(), re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ShellAnswers:
    """What came of the questions. `said`: name -> bytes; `missing`: name -> why there is nothing to read."""

    said: dict[str, bytes]
    missing: dict[str, str]


Ask = Callable[[ShellQuestions], Awaitable[bytes]]
"""Asks, and returns all that came back. Raises BootFailed for a command that fails."""


async def ask_by_command(questions: ShellQuestions) -> bytes:
    """Run the system's `shell.command` with the script as its input; return what it printed. Raises BootFailed."""
    access = questions.access
    assert access.command is not None
    words = words_of(access.command)
    return (await run_command("target.shell.command", words, access.deadline_s, input=questions.script)).stdout


def read_answers(questions: ShellQuestions, raw: bytes) -> ShellAnswers:
    """Return the answers in what came back. What was cut off, or mixed with a console's lines, is missing by name.

    Of names that nobody asked for nothing is taken: they are the machine's words, and answers become files.
    """
    parts = re.compile(rf"^bootlab-(packed|plain|end|over)-{questions.nonce} ?([\w.-]*)\r*\n?".encode(), re.MULTILINE)
    found = list(parts.finditer(raw))
    said: dict[str, bytes] = {}
    missing: dict[str, str] = {}
    for one, following in zip_longest(found, found[1:]):
        form, name = one[1].decode(), one[2].decode()
        if form not in ("packed", "plain") or name not in questions.commands:
            continue
        if following is None or following[1] != b"end":
            missing[name] = "the answer was cut off"
            continue
        body = raw[one.end() : following.start()].replace(b"\r", b"")
        try:
            text = _unpack(body) if form == "packed" else body.removesuffix(b"\n")
        except (ValueError, zlib.error) as error:
            missing[name] = f"the answer is damaged, other lines of the console may be in it ({error})"
            continue
        if text.strip():
            said[name] = text
        else:
            missing[name] = "it said nothing: no such tool there, or nothing to tell"
    for name in questions.commands:
        if name not in said:
            missing.setdefault(name, "no answer came")
    return ShellAnswers(said, missing)


def _unpack(body: bytes) -> bytes:
    unpacked = zlib.decompressobj(wbits=_GZIP)
    text = unpacked.decompress(base64.b64decode(b"".join(body.split()), validate=True), MOST_BYTES)
    if unpacked.unconsumed_tail:
        raise ValueError(f"more than {MOST_BYTES >> 20} MiB")
    if not unpacked.eof:
        raise ValueError("it ends before its end")
    return text
