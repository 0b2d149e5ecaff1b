"""How a boot ended that is not simply ready, in words: what happened, its known cause, and its console's last line."""

import re
from dataclasses import dataclass

from bootlab.measure.causes.board import find_board_cause
from bootlab.measure.causes.learning import find_learning_cause
from bootlab.measure.causes.search import find_known_cause
from bootlab.measure.causes.unseen import find_unseen
from bootlab.measure.causes.wrong_baud import find_line_cause
from bootlab.measure.guest.console import early_check
from bootlab.measure.observed_boot import ObservedBoot
from bootlab.measure.record import Outcome
from bootlab.system import PowerOnKind
from bootlab.targets.target import Ended, EndReason
from bootlab.timeline import marks as m

_REFUSED = re.compile(r"bootlab: clone refused: ([^\r\n]+)")
"""What a clone agent says that finds itself beside another disk than its own (guest/clone/main.c)."""
_EARLY = "before it was ready its check said: "


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a boot. `detail`: one line for a reader, empty when all is well."""

    outcome: Outcome
    detail: str = ""


def explain_early_end(seen: ObservedBoot, ended: Ended) -> Ending:
    """Return what became of a machine that ended before it was ready."""
    guest = seen.heard.guest
    if guest.panic is not None:
        return _explain(seen, Outcome.PANICKED, f"kernel panic: {guest.panic}")
    if ended.reason is EndReason.DIED:
        return Ending(Outcome.TARGET_DIED, ended.detail)
    if guest.gave_up and ended.reason is EndReason.STOPPED:
        return _explain(seen, Outcome.HUNG, f"the bootloader gave up; {_last_words(seen)}")
    trace = seen.trace()
    if trace is not None and m.PANIC in trace.marks:
        return _explain(seen, Outcome.PANICKED, "the kernel panicked without a word on the console")
    if (refused := _REFUSED.search(seen.heard.text)) is not None:
        return Ending(Outcome.NOT_READY, f"the clone refused to go on, and wrote nothing: {refused.group(1).strip()}")
    check = seen.system.check
    if trace is not None and check is not None and check.mark in trace.guest_marks:
        return _explain(seen, Outcome.CHECK_FAILED, f"{_EARLY}{early_check(check)}")
    return _explain(seen, Outcome.NOT_READY, f"{ended.reason.value} before ready; {_last_words(seen)}")


def explain_early_check(seen: ObservedBoot) -> Ending:
    """Return what became of a boot whose check failed before it was ready."""
    return _explain(seen, Outcome.CHECK_FAILED, f"{_EARLY}{seen.heard.guest.check_detail}")


def explain_unlearned(seen: ObservedBoot, ending: Ending) -> Ending:
    """Return `ending`, or why a boot that is well but for that was to learn and has not."""
    if ending.outcome not in (Outcome.READY, Outcome.CHECK_FAILED):
        return ending
    cause = _find_learning_cause(seen)
    if cause is None:
        return ending
    return Ending(Outcome.CHECK_FAILED, f"{ending.detail or 'all else is well'}; {cause}")


def explain_overdue(seen: ObservedBoot, withheld_s: float) -> Ending:
    """Return what became of a boot whose deadline passed, for ready or for its check.

    `withheld_s`: seconds that the host ran something else, which the deadline did not count.
    """
    if seen.heard.guest.ready:
        overdue = f"no result of the check after {seen.check_deadline_s:g} s"
        return _explain(seen, Outcome.CHECK_FAILED, f"{overdue}; {_last_words(seen)}")
    waited = f", and {withheld_s:.0f} s for a processor" if withheld_s >= 1 else ""
    deadline = f"{seen.ready_deadline_s:g} s on the host's clock{waited}"
    trace, system = seen.trace(), seen.system
    if trace is not None and (made := trace.guest_marks.get(system.booted.mark or "")) is not None:
        if system.check is not None and system.check.mark is not None:
            return _explain(
                seen,
                Outcome.CHECK_FAILED,
                f"ready at {made.t_ns / 1e6:.3f} ms, and its check has not made the mark {system.check.mark} "
                f"after {deadline}; {_last_words(seen)}",
            )
        return _explain(
            seen,
            Outcome.HUNG,
            f"the mark was made at {made.t_ns / 1e6:.3f} ms, but its line has not reached the serial port "
            f"after {deadline}, and the check needs it; {_last_words(seen)}",
        )
    return _explain(seen, Outcome.HUNG, f"not ready after {deadline}; {_last_words(seen)}")


def _explain(seen: ObservedBoot, outcome: Outcome, detail: str) -> Ending:
    cause = _find_cause(seen)
    if cause is None and outcome is Outcome.CHECK_FAILED:
        cause = _find_learning_cause(seen)
    return Ending(outcome, detail if cause is None else f"{detail}; {cause}")


def _find_learning_cause(seen: ObservedBoot) -> str | None:
    power_on = seen.system.power_on
    if seen.prepared.restored is not None or (power_on is not None and power_on.kind is PowerOnKind.HIBERNATED):
        # It goes on from a boot that has learned, and printed it, before this one began.
        return None
    return find_learning_cause(seen.system, seen.heard.text)


def _find_cause(seen: ObservedBoot) -> str | None:
    system, heard = seen.system, seen.heard
    if seen.prepared.console.is_asked:
        return None
    if seen.prepared.console.is_line:
        return find_line_cause(bytes(heard.raw), heard.zero_awaited)
    trace = seen.trace()
    of_board = find_board_cause(system, trace.marks.keys(), silent=not heard.raw) if trace is not None else None
    return of_board or find_known_cause(system, heard.text, seen.prepared.files)


def _last_words(seen: ObservedBoot) -> str:
    unseen = find_unseen(seen.system, seen.trace()) if seen.system.screen is not None else None
    return _last_line(seen) if unseen is None else f"{_last_line(seen)}; {unseen}"


def _last_line(seen: ObservedBoot) -> str:
    guest = seen.heard.guest
    seconds = guest.last_line_ns / 1e9
    if seen.prepared.console.is_asked:
        answers = [name for name in guest.marks if name != m.READY]
        return f"answered so far: {', '.join(answers)}" if answers else "it has answered nothing"
    if not guest.last_line:
        return "the console said nothing"
    return f'last console line, {seconds:.3f} host s after power-on: "{guest.last_line.strip()[:160]}"'
