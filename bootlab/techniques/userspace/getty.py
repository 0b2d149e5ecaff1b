"""Login prompts: when systemd runs the program that writes one, and what it asks the terminal before."""

import re
from typing import Final

from bootlab.system import System
from bootlab.techniques.changes.root_files import writes_files
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Risk, Technique, Text

_SIMPLE: Final = "[Service]\nType=simple\n"
AT_ONCE: Final = {
    f"/etc/systemd/system/{unit}.service.d/90-bootlab-at-once.conf": _SIMPLE for unit in ("getty@", "serial-getty@")
}
SIZE: Final = {
    "/etc/systemd/system/serial-getty@.service.d/90-bootlab-size.conf": "[Service]\nTTYRows=24\nTTYColumns=80\n"
}
ASKS_SIZE: Final = re.compile(r"\x1b\[32766;32766H\x1b\[6n")
"""systemd asks a terminal how large it is: where is the cursor, after it was sent far away? (257, terminal-util.c)"""
_COLOUR: Final = re.compile(r"\x1b\[[\d;]*m")
_STARTED: Final = re.compile(r"Started serial-getty@")
_PROMPT: Final = re.compile(r"^\S+ login: ", re.MULTILINE)
_SIGN: Final = re.compile(r"\x1b\[!p|^\S+ login: ", re.MULTILINE)
"""The first that a getty's process does to a serial line: systemd 257 resets the terminal before it is executed."""
_JOB: Final = re.compile(r"^(?:\[(?:  OK  |FAILED|DEPEND)\]| +Starting) ", re.MULTILINE)
"""What systemd says of a unit; a target's is one of them."""


def _jobs_before_sign(console: str) -> int | None:
    """Return what systemd said between a getty's start and its first sign, in lines; None where there is no prompt."""
    text = _COLOUR.sub("", console)
    started = _STARTED.search(text)
    if started is None or not _PROMPT.search(text, started.end()):
        return None
    sign = _SIGN.search(text, started.end())
    assert sign is not None
    return len(_JOB.findall(text, started.end(), sign.start()))


def _applies(system: System, measured: Measured) -> str | None:
    waited = _jobs_before_sign(measured.console)
    if waited is None:
        return "the console of the baseline boot tells of no serial-getty@.service that wrote a prompt"
    return None if waited else "the getty of the baseline boot did not wait for other jobs"


def _waits_for_few(after: Evidence, before: Evidence) -> Effect:
    new, old = _jobs_before_sign(after.console), _jobs_before_sign(before.console)
    if new is None or not old:
        return Effect.NOT_SHOWN
    # Other jobs go on beside it, where there is a processor for both.
    if new * 2 <= old:
        return Effect.PROVEN
    return Effect.NONE if new >= old else Effect.NOT_SHOWN


def _is_asked(system: System, measured: Measured) -> str | None:
    if not ASKS_SIZE.search(measured.console):
        return "the console of the baseline boot shows no terminal that is asked for its size"
    return None


def _is_told(after: Evidence, before: Evidence) -> Effect:
    if ASKS_SIZE.search(after.console):
        return Effect.NONE
    shown = ASKS_SIZE.search(before.console) and _jobs_before_sign(after.console) is not None
    return Effect.PROVEN if shown else Effect.NOT_SHOWN


TECHNIQUES = (
    Technique(
        name="userspace_getty_at_once",
        text=Text(
            summary="has systemd run the login prompt's program when its turn comes, not when nothing else is left",
            mechanism=(
                "getty@ and serial-getty@ are of Type=idle: their process exists, and waits until systemd has no other "
                "job, five seconds at most, so that what systemd says does not mix with the prompt. With Type=simple "
                "it is executed at once."
            ),
            cost=(
                "lines of units that start meanwhile stand behind the prompt; what else is due has one processor less, "
                "and a service that the boot is for may come later"
            ),
            risk=Risk.FUNCTION,
            published=(none_published("systemd.service(5), Type=idle: delayed until all active jobs are dispatched"),),
        ),
        change=writes_files(AT_ONCE, _applies),
        proof=Proof(_waits_for_few),
    ),
    Technique(
        name="userspace_tty_size_told",
        text=Text(
            summary="tells systemd how large the serial line's terminal is, which it asks nobody then",
            mechanism=(
                "systemd 257 writes a serial terminal's reset and asks it by escape sequences where the cursor "
                "is, so as to know its size, before it runs the prompt's program. Where nobody is at the other end, or "
                "somebody who only reads, it waits a third of a second for each answer."
            ),
            cost="a terminal of another size than 24 lines of 80 columns is used in part, until the shell asks it",
            risk=Risk.FUNCTION,
            published=(none_published("systemd 257, systemd.exec(5): TTYRows=, TTYColumns="),),
        ),
        change=writes_files(SIZE, _is_asked),
        proof=Proof(_is_told),
    ),
)
