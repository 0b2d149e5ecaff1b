"""Asks the shell of a boot that is ready and well, by a command of this host or by typing at its console."""

import asyncio
import re
from collections.abc import Callable

from bootlab.errors import BootFailed
from bootlab.measure.observed_boot import ObservedBoot
from bootlab.measure.session_events import SessionEvents
from bootlab.targets.shell import MOST_BYTES, ShellQuestions
from bootlab.targets.target import ConsoleBytes, Ended, OpenedMachine

_SILENT_S = 2.0
"""How long a console without a prompt must be silent until Return is pressed once more: a line of the kernel's may
stand behind its prompt."""
_TAIL = 1 << 16
"""Bytes of the answers that are searched as more come: more than comes at once."""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[78]")
"""What shells with line editing send a terminal beside their prompt."""


async def ask_shell(seen: ObservedBoot, machine: OpenedMachine, events: SessionEvents) -> None:
    """Ask what the boot was prepared to be asked; `seen` has the answers, and in its remarks what went wrong."""
    questions = seen.prepared.questions
    assert questions is not None
    try:
        async with asyncio.timeout(questions.access.deadline_s):
            if machine.ask is not None:
                seen.answers.extend(await machine.ask(questions))
            elif machine.send is not None:
                await _Typing(seen, events, machine.send).ask(questions)
    except TimeoutError:
        said = seen.answers.decode(errors="replace").splitlines()[-1:] or ["nothing"]
        seen.remarks.append(
            f"target.shell: not all was answered in {questions.access.deadline_s:g} s (deadline_s); "
            f"last it said: {said[0][-80:]}"
        )
    except BootFailed as error:
        seen.remarks.append(error.message)


class _Typing:
    """Types each line at a prompt, and takes all that the console says meanwhile for answers."""

    def __init__(self, seen: ObservedBoot, events: SessionEvents, send: Callable[[bytes], None]) -> None:
        self._seen = seen
        self._events = events
        self._send = send

    async def ask(self, questions: ShellQuestions) -> None:
        assert questions.access.prompt is not None
        prompt = re.compile(questions.access.prompt)
        since = self._type("")
        for line in questions.lines:
            while not self._is_prompt(prompt, since):
                if not await self._hear(_SILENT_S):
                    self._send(b"\n")
            since = self._type(line)
        while questions.end.search(self._seen.answers[-_TAIL:]) is None:
            await self._hear(None)

    def _type(self, line: str) -> int:
        """Type a line; return where in the answers begins what it is answered by."""
        since = len(self._seen.answers)
        self._send(line.encode() + b"\n")
        return since

    def _is_prompt(self, prompt: re.Pattern[str], since: int) -> bool:
        # What was typed is echoed on a line that its own end closes: a prompt stands on an open one.
        last = bytes(self._seen.answers[max(since, len(self._seen.answers) - _TAIL) :]).rpartition(b"\n")
        return bool(last[1]) and prompt.search(_CONTROL.sub("", last[2].decode(errors="replace"))) is not None

    async def _hear(self, patience_s: float | None) -> bool:
        """Take what comes next; return whether anything did. Raises BootFailed when the machine is gone."""
        event = await self._events.next(patience_s)
        if isinstance(event, Ended):
            raise BootFailed(f"target.shell: the machine ended while it was asked ({event.reason.value})")
        if isinstance(event, ConsoleBytes):
            self._seen.answers.extend(event.data)
            if len(self._seen.answers) > MOST_BYTES:
                raise BootFailed(f"target.shell: more than {MOST_BYTES >> 20} MiB came back")
        return event is not None
