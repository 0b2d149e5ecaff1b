"""`scripts/same-answers`: ask two revisions the same questions and say where they answer otherwise.

    python -m scripts.same_answers.run BEFORE [AFTER] [--only NAME]... [--meant NAME]... [--costly] [--keep]

Exit code 0: all answers are equal; 1: one is not, or is missing; 2: a revision or a name that is not there.
"""

import argparse
import fnmatch
import os
import re
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from scripts.same_answers.answers import Answer, Comparison, Rewriting, compare, rewritings
from scripts.same_answers.asking import ROOT, SAMPLES, CannotAsk, Desk, Revision, find_revision
from scripts.same_answers.questions import Question, asked, readings

_SHOWN = 5
_LONGEST_WORD = 160


@dataclass
class Tally:
    """What has been compared so far."""

    equal: int = 0
    different: int = 0
    meant: int = 0
    inputs: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    """An input that differs: its name, value before, value after -> the questions where it was seen."""

    def judge(self, name: str, found: Comparison | str, *, meant: bool = False) -> str:
        """Count how the question `name` was answered, or why it was not, and return that in words."""
        if isinstance(found, Comparison):
            for path, before, after in found.inputs:
                # The same file is an input of many boots.
                self.inputs.setdefault((re.sub(r"^.*\b(hashes|sizes)\.", r"\1.", path), before, after), []).append(name)
            if not found.differences:
                self.equal += 1
                return f"equal ({_counts(found)})"
        if meant:
            self.meant += 1
        else:
            self.different += 1
        if isinstance(found, str):
            return found
        return "\n".join([f"{len(found.differences)} DIFFERENT ({_counts(found)})", *_shown(found.differences)])


def main(argv: list[str]) -> int:
    """Run the script and return its exit code."""
    options = _parser().parse_args(argv)
    questions = asked(SAMPLES)
    read = readings(questions)
    if options.list:
        for one in [*questions, *read]:
            print(f"{one.name:<44} {'costly: ' if one.costly else ''}bootlab {' '.join(one.words)}")
        return 0
    try:
        questions, read = choose(questions, read, options.only, costly=options.costly)
        before = find_revision(options.before)
        after = None if options.collect else find_revision(options.after or str(ROOT))
    except CannotAsk as error:
        print(f"same-answers: error: {error}", file=sys.stderr)
        return 2
    desk = Desk(_cache(), keep=options.keep)
    try:
        with desk.alone():
            if after is None:
                return _collect(desk, before, questions, read)
            return _compare(desk, before, after, (questions, read), options.meant)
    except CannotAsk as error:
        print(f"same-answers: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("same-answers: interrupted; what was answered is kept, and not asked again", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/same-answers", description=__doc__.partition("\n")[0])
    parser.add_argument("before", nargs="?", default="HEAD", help="a git revision, or a checkout [default: HEAD]")
    parser.add_argument("after", nargs="?", help="the same [default: this checkout, committed or not]")
    parser.add_argument("--collect", action="store_true", help="ask BEFORE alone, and keep its answers")
    parser.add_argument("--only", action="append", metavar="NAME", help="questions by name, as *profile*. Repeatable")
    parser.add_argument(
        "--meant", action="append", default=[], metavar="NAME", help="these are meant to differ: shown, but no failure"
    )
    parser.add_argument("--costly", action="store_true", help="also what builds kernels and distributions")
    parser.add_argument("--keep", action="store_true", help="leave the files of the revision that was asked last")
    parser.add_argument("--list", action="store_true", help="list the questions")
    return parser


def choose(
    questions: list[Question], read: list[Question], only: list[str] | None, *, costly: bool
) -> tuple[list[Question], list[Question]]:
    """Return what is asked: all but what is costly, or what is named, and what that needs. Raises CannotAsk."""
    every = [*questions, *read]
    if only is None:
        names = {one.name for one in every if costly or not one.costly}
    else:
        matching = [one for one in every if any(fnmatch.fnmatchcase(one.name, name) for name in only)]
        # A pattern is not meant to build a kernel; the name itself is.
        names = {one.name for one in matching if costly or not one.costly or one.name in only}
        unknown = [name for name in only if not any(fnmatch.fnmatchcase(one.name, name) for one in every)]
        if unknown:
            raise CannotAsk(f"--only {unknown[0]}: no such question; --list names them")
    for one in reversed(every):
        if one.name in names:
            names |= set(one.runs)
    return [one for one in questions if one.name in names], [one for one in read if one.name in names]


def _collect(desk: Desk, revision: Revision, questions: list[Question], read: list[Question]) -> int:
    failed = 0
    began = time.monotonic()
    for recorded, some in ((None, questions), (revision, read)):
        for question, answer in desk.answers(revision, some, recorded):
            error = isinstance(answer, CannotAsk)
            failed += error
            print(f"{question.name:<44} {f'no answer: {answer}' if error else 'kept'}", flush=True)
    answered = len(questions) + len(read) - failed
    place = desk.runs_of(revision).parent
    print(f"{answered} answers of {revision.name} in {time.monotonic() - began:.0f} s, kept in {place}")
    return int(failed > 0)


def _compare(
    desk: Desk, before: Revision, after: Revision, chosen: tuple[list[Question], list[Question]], meant: list[str]
) -> int:
    if before.key == after.key:
        print("nothing that decides an answer differs between the two")
        return 0
    tally = Tally()
    rewrite = rewritings(str(desk.cache))
    # Runs that the older one recorded are read by both.
    for recorded, questions in ((None, chosen[0]), (before, chosen[1])):
        earlier = {one.name: answer for one, answer in desk.answers(before, questions, recorded)}
        for question, answer in desk.answers(after, questions, recorded):
            allowed = any(fnmatch.fnmatchcase(question.name, name) for name in meant)
            told = tally.judge(
                question.name, _compared(question, earlier[question.name], answer, rewrite), meant=allowed
            )
            print(f"{question.name:<44} {told}", flush=True)
    for (name, one, other), where in tally.inputs.items():
        print(f"input that differs: {name}: {_short(one)} -> {_short(other)} in {_few(where)}")
    meant_words = f", {tally.meant} different as was meant" if tally.meant else ""
    print(f"{tally.equal} answers equal, {tally.different} different{meant_words}")
    return int(tally.different > 0)


def _compared(
    question: Question, before: Answer | CannotAsk, after: Answer | CannotAsk, rewrite: tuple[Rewriting, ...]
) -> Comparison | str:
    for side, answer in (("before", before), ("after", after)):
        if isinstance(answer, CannotAsk):
            return f"NO ANSWER {side}: {answer}"
    assert isinstance(before, Answer) and isinstance(after, Answer)
    return compare(before, after, rewrite, host_ended=question.host_ended)


def _counts(found: Comparison) -> str:
    words = [f"{found.compared} values compared"]
    for what, counted in (("set aside:", found.aside), ("rewritten:", found.rewritten)):
        if counted.total():
            words.append(f"{counted.total()} {what} {', '.join(f'{n} {why}' for why, n in counted.items() if n)}")
    if found.inputs:
        words.append(f"{len(found.inputs)} inputs differ")
    return "; ".join(words)


def _shown(differences: list[tuple[str, str, str]]) -> list[str]:
    lines = [f"    {path}: {_short(before)} -> {_short(after)}" for path, before, after in differences[:_SHOWN]]
    left = len(differences) - len(lines)
    return [*lines, f"    and {left} more"] if left else lines


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}..."


def _few(names: list[str]) -> str:
    once = list(dict.fromkeys(names))
    return ", ".join(once[:_SHOWN]) + (f" and {len(once) - _SHOWN} more" if len(once) > _SHOWN else "")


def _cache() -> Path:
    # As bootlab finds its own: what was fetched and built is shared.
    base = os.environ.get("BOOTLAB_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "bootlab")
    return Path(base).expanduser().resolve()


if __name__ == "__main__":
    # An end by `kill` cleans up as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
