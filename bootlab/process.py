"""Run a child to its end: argv list, deadline, and an error that names the program and its last words.

The child gets a session of its own, so whatever ends the wait (deadline, Ctrl-C, a bug of ours) ends all it started.
"""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bootlab.errors import BootlabError, MissingTool

_STDERR_LINES = 12
# Where bootlab itself is killed, a lone child would go on, and so would all that it has started: a small shell between
# them hears of the death (setpriv) and ends the whole group.
_MORTAL = ("setpriv", "--pdeathsig", "TERM", "sh", "-c", 'trap "kill -KILL 0" TERM; "$@" & wait $!', "sh")
# Debian keeps mke2fs and friends where an ordinary user's PATH does not look.
_ADMIN_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


class ProgramFailed(BootlabError):
    """A child ended with an error, by a signal or at its deadline."""

    def __init__(
        self, message: str, *, stderr: str, exit_status: int | None, stdout: str = "", hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.stdout = stdout
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


def require_program(program: str, *, package: str | None = None) -> str:
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
    program = require_program(str(argv[0]), package=package)
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
        raise _failure(name, f"exit status {child.returncode}", stderr, child.returncode, stdout)
    return Output(stdout, stderr)


def stream(
    argv: Sequence[str | Path],
    on_line: Callable[[str], None],
    *,
    log: Path,
    deadline_s: float,
    env: Mapping[str, str] | None = None,
    package: str | None = None,
) -> None:
    """Run `argv` to its end, calling `on_line` with each line that it writes to standard output or error, as it comes.

    `log` becomes the file of all that it wrote. For children that start many others and take long: none of them
    outlives this call, nor this process. `on_line` runs in the caller's thread, and what it raises ends the child.
    Raises MissingTool, or ProgramFailed, whose `stderr` is all of the log; OSError when the log cannot be written.
    """
    name = Path(argv[0]).name
    program = require_program(str(argv[0]), package=package)
    wrapper = [require_program(_MORTAL[0], package="util-linux"), *_MORTAL[1:]]
    with log.open("wb") as file:
        child = subprocess.Popen(
            [*wrapper, program, *(str(word) for word in argv[1:])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C", **(env or {})},
            start_new_session=True,
        )
        assert child.stdout is not None
        late = threading.Event()

        def end_late() -> None:
            late.set()
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)

        timer = threading.Timer(deadline_s, end_late)
        timer.daemon = True
        timer.start()
        try:
            for line in child.stdout:
                file.write(line)
                on_line(line.decode(errors="replace").rstrip("\n"))
            child.wait()
        except BaseException:
            _end(child)
            raise
        finally:
            timer.cancel()
            child.stdout.close()
    if child.returncode != 0:
        text = log.read_bytes()
        if late.is_set():
            raise _failure(name, f"not done after {deadline_s:g} s", text, None)
        # The shell between says 128 + n of a child that signal n has ended.
        signalled = -child.returncode if child.returncode < 0 else max(child.returncode - 128, 0)
        what = f"killed by {_signal_name(signalled)}" if signalled else f"exit status {child.returncode}"
        raise _failure(name, what, text, -signalled or child.returncode)


def _end(child: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _failure(name: str, what: str, stderr: bytes, exit_status: int | None, stdout: bytes = b"") -> ProgramFailed:
    text = stderr.decode(errors="replace").strip()
    last = text.splitlines()[-_STDERR_LINES:]
    message = "\n  ".join([f"{name}: {what}", *last])
    return ProgramFailed(message, stderr=text, exit_status=exit_status, stdout=stdout.decode(errors="replace"))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
