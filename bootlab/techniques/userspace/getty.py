"""Login prompts: when systemd runs the program that writes one."""

import re
from typing import Final

from bootlab.system import System
from bootlab.techniques.changes.root_files import expect_no_files, with_root_files
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_SIMPLE: Final = "[Service]\nType=simple\n"
AT_ONCE: Final = {
    f"/etc/systemd/system/{unit}.service.d/90-bootlab-at-once.conf": _SIMPLE for unit in ("getty@", "serial-getty@")
}
_COLOUR: Final = re.compile(r"\x1b\[[\d;]*m")
_STARTED: Final = re.compile(r"Started serial-getty@")
_PROMPT: Final = re.compile(r"^\S+ login: ", re.MULTILINE)
_JOB: Final = re.compile(r"^(?:\[(?:  OK  |FAILED|DEPEND)\]| +Starting) ", re.MULTILINE)
"""What systemd says of a unit; a target's is one of them."""


def _jobs_before_prompt(console: str) -> int | None:
    """Return what systemd said between the getty's start and its prompt, in lines; None where either is not there."""
    text = _COLOUR.sub("", console)
    started = _STARTED.search(text)
    prompt = _PROMPT.search(text, started.end()) if started else None
    return None if started is None or prompt is None else len(_JOB.findall(text, started.end(), prompt.start()))


def _applies(system: System, measured: Measured) -> str | None:
    if (why := expect_no_files(system, AT_ONCE)) is not None:
        return why
    waited = _jobs_before_prompt(measured.console)
    if waited is None:
        return "the console of the baseline boot tells of no serial-getty@.service that wrote a prompt"
    return None if waited else "the prompt of the baseline boot came right behind the start of its getty"


def _waits_for_few(after: Evidence, before: Evidence) -> Effect:
    new, old = _jobs_before_prompt(after.console), _jobs_before_prompt(before.console)
    if new is None or not old:
        return Effect.NOT_SHOWN
    # Other jobs go on beside it, where there is a processor for both.
    if new * 2 <= old:
        return Effect.PROVEN
    return Effect.NONE if new >= old else Effect.NOT_SHOWN


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
        change=Change(
            Layer.USERSPACE,
            f"files of the root: {', '.join(AT_ONCE)}",
            lambda system, measured: with_root_files(system, AT_ONCE),
            _applies,
        ),
        proof=Proof(_waits_for_few),
    ),
)
