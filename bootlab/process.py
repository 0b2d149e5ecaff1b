"""Run a child to its end: argv list, deadline, and an error that names the program and its last words.

The child gets a session of its own, so whatever ends the wait (deadline, Ctrl-C, a bug of ours) ends all it started.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bootlab.errors import BootlabError, MissingTool

_STDERR_LINES = 12
# Debian keeps mke2fs and friends where an ordinary user's PATH does not look.
_ADMIN_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


class ProgramFailed(BootlabError):
    """A child ended with an error, by a signal or at its deadline."""

    def __init__(self, message: str, *, stderr: str, exit_status: int | None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.stderr = stderr
        self.exit_status = exit_status
        """As in subprocess: negative is a signal; None when the deadline ended it."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a child that ended well has written."""

    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        return self.stdout.decode(errors="replace")


def find_program(program: str, *, package: str | None = None) -> str:
    """Return the path of `program` from PATH or the administrator's folders.

    Raises MissingTool; its hint names the Debian `package` that holds the program, when given.
    """
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_ADMIN_FOLDERS])
    found = shutil.which(program, path=path)
    if found is None:
        hint = f"apt-get install {package}" if package else None
        raise MissingTool(f"{program}: program not found", hint=hint)
    return found


def run(
    argv: Sequence[str | Path],
    *,
    deadline_s: float = 60.0,
    input: bytes = b"",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    package: str | None = None,
) -> Output:
    """Run `argv` to its end and return what it wrote.

    `input` is all that its standard input holds; `env` is added to this process's environment (and LC_ALL=C, so that
    messages can be matched); `package` is the Debian package to name when the program is missing.
    Raises MissingTool, or ProgramFailed with the program's last lines on standard error.
    """
    name = Path(argv[0]).name
    program = find_program(str(argv[0]), package=package)
    child = subprocess.Popen(
        [program, *(str(word) for word in argv[1:])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C", **(env or {})},
        cwd=cwd,
        start_new_session=True,
    )
    try:
        stdout, stderr = child.communicate(input, timeout=deadline_s)
    except subprocess.TimeoutExpired as error:
        _end(child)
        raise _failure(name, f"not done after {deadline_s:g} s", error.stderr or b"", None) from error
    except BaseException:
        _end(child)
        raise
    if child.returncode < 0:
        raise _failure(name, f"killed by {_signal_name(-child.returncode)}", stderr, child.returncode)
    if child.returncode > 0:
        raise _failure(name, f"exit status {child.returncode}", stderr, child.returncode)
    return Output(stdout, stderr)


def _end(child: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _failure(name: str, what: str, stderr: bytes, exit_status: int | None) -> ProgramFailed:
    text = stderr.decode(errors="replace").strip()
    last = text.splitlines()[-_STDERR_LINES:]
    message = "\n  ".join([f"{name}: {what}", *last])
    return ProgramFailed(message, stderr=text, exit_status=exit_status)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
