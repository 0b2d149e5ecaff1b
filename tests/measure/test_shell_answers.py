"""A shell that is typed at over a console: prompts, echoes, silence, and a machine that ends meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.measure.observed_boot import ObservedBoot
from bootlab.measure.session_events import SessionEvents
from bootlab.measure.shell_answers import ask_shell
from bootlab.system import ShellAccess
from bootlab.targets.shell import ShellQuestions, read_answers
from bootlab.targets.target import ConsoleBytes, Ended, EndReason, OpenedMachine
from tests.measure.observing import observed

PROMPT = "board:/# \x1b[6n"


class TypedAt:
    """A real shell behind a line: echoes what is typed, runs it with all that was typed before, and prompts."""

    def __init__(self, silent: int = 0, ends: bool = False) -> None:
        self.typed: list[str] = []
        self._silent, self._ends = silent, ends
        self._said: asyncio.Queue[ConsoleBytes | Ended] = asyncio.Queue()
        self._running: set[asyncio.Task[None]] = set()

    def send(self, data: bytes) -> None:
        self.typed.append(data.decode())
        if self._ends:
            self._said.put_nowait(Ended(0, EndReason.DIED))
        elif len(self.typed) > self._silent:
            self._say(data.replace(b"\n", b"\r\n"))
            self._running.add(asyncio.get_running_loop().create_task(self._run()))

    async def _run(self) -> None:
        # What is before the last line was answered already.
        script = "".join(self.typed[:-1]) + "echo this-line\n" + self.typed[-1]
        child = await asyncio.create_subprocess_exec(
            "sh", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        said, _ = await child.communicate(script.encode())
        self._say(said.partition(b"this-line\n")[2].replace(b"\n", b"\r\n") + PROMPT.encode())

    def _say(self, data: bytes) -> None:
        self._said.put_nowait(ConsoleBytes(0, data))

    async def events(self) -> AsyncIterator[ConsoleBytes | Ended]:
        while True:
            yield await self._said.get()


def asked(tmp_path: Path, access: ShellAccess) -> ObservedBoot:
    seen = observed(tmp_path)
    return replace(seen, prepared=replace(seen.prepared, questions=ShellQuestions(access.keeps, access)))


async def ask(seen: ObservedBoot, shell: TypedAt) -> None:
    events = SessionEvents(shell)  # type: ignore[arg-type]
    try:
        await ask_shell(seen, OpenedMachine(shell, send=shell.send), events)  # type: ignore[arg-type]
    finally:
        events.close()


def test_lines_are_typed_at_a_prompt_and_answered(tmp_path: Path) -> None:
    seen = asked(tmp_path, ShellAccess(prompt="# $", keeps={"lines": "seq 3000"}))
    asyncio.run(ask(seen, TypedAt(silent=1)))
    questions = seen.prepared.questions
    assert questions is not None and seen.remarks == []
    lines = "".join(f"{number}\n" for number in range(1, 3001))
    assert read_answers(questions, bytes(seen.answers)).said == {"lines": lines.encode()}


@pytest.mark.parametrize(
    ("silent", "ends", "remark"),
    [
        (99, False, "not all was answered in 3 s (deadline_s); last it said: nothing"),
        (0, True, "target.shell: the machine ended while it was asked (died)"),
    ],
)
def test_what_went_wrong_is_a_remark(silent: int, ends: bool, remark: str, tmp_path: Path) -> None:
    seen = asked(tmp_path, ShellAccess(prompt="# $", keeps={"one": "echo 1"}, deadline_s=3))
    shell = TypedAt(silent, ends)
    asyncio.run(ask(seen, shell))
    assert len(seen.remarks) == 1 and remark in seen.remarks[0]
    # Return is pressed again, as a line of the kernel's may have hidden the prompt.
    assert shell.typed == (["\n"] if ends else ["\n", "\n"])
