"""What a verb has answered, as values that can be compared with another answer's, and the list of what may differ.

A value is one number, word or line with the path that leads to it. Nothing is left out unseen: what is set aside is
named here, counted, and told with the result.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

MISSING: Final = "(missing)"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call of bootlab gave back."""

    code: int
    out: str
    """Standard output."""
    err: str
    """Standard error, where progress and errors are."""
    form: str = "json"
    """`json` or `text`."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Part of a word that a second call of the same bootlab has otherwise, and what stands for it here."""

    name: str
    pattern: re.Pattern[str]
    instead: str


@dataclass(slots=True)
class Comparison:
    """Two answers to one question."""

    compared: int
    """Values that both have, or one of them, and that count."""
    aside: Counter[str]
    """Why values were set aside -> how many."""
    rewritten: Counter[str]
    """What was rewritten before values were compared -> in how many."""
    differences: list[tuple[str, str, str]] = field(default_factory=list)
    """Path, value before, value after."""
    inputs: list[tuple[str, str, str]] = field(default_factory=list)
    """The same of what the boots were made from: programs compiled from other source have another hash and size."""


_SECONDS: Final = re.compile(r"\d+(\.\d+)?(e-\d+)?")
SET_ASIDE: Final = {
    "time of day": (re.compile(r"(^|\.)started$"), re.compile(r'"\d{4}-\d\d-\d\dT[\d:]+\+00:00"')),
    "seconds of the host": (
        re.compile(r"(^|\.)(wall_s|cost\.(build_s|qemu_s|booting_s|elapsed_s|per_qemu))$"),
        _SECONDS,
    ),
    "load of the host": (re.compile(r"(^|\.)host\.load_1_min$"), _SECONDS),
}
"""Why a value cannot be the same twice -> the paths of such values, without the numbers of list items, and the form
that both must have, as JSON."""

HOST_ENDED: Final = re.compile(r"(account\.whole|slices|waits|processes|syscalls|coverage\.check|tasks|advice)(\..+)?")
"""Paths of a profile where the time between ready and the end of the boot shows. That all of these are made of a
profile as before is shown by those on record."""

INPUTS: Final = re.compile(r"(^|\.)(hashes(\..+)?|sizes\..+|key)$")
"""Paths of hashes and sizes of what was booted: they are compared, but listed apart."""


def rewritings(cache: str) -> tuple[Rewriting, ...]:
    """Return what is rewritten in every word: paths below the folder `cache`, and what a boot draws."""
    return (
        Rewriting("path of a run", re.compile(re.escape(cache) + r"/same-answers/kept/[0-9a-f]+/runs(?=/)"), "<runs>"),
        # An entry's name is the hash of what it was made from.
        Rewriting("path in the cache", re.compile(re.escape(cache) + r"/([\w-]+)/[0-9a-f]{64}"), r"<cache>/\1"),
        Rewriting("QEMU's socket", re.compile(r"/tmp/bootlab-\w+/"), "<socket>/"),
        Rewriting("port of the host", re.compile(r"(?<=hostfwd=tcp:127\.0\.0\.1:)\d+"), "<port>"),
    )


def compare(
    before: Answer, after: Answer, rewrite: tuple[Rewriting, ...] = (), *, host_ended: bool = False
) -> Comparison:
    """Compare two answers to one question, value by value; with `host_ended`, without what HOST_ENDED names."""
    ours, theirs = dict(values_of(before)), dict(values_of(after))
    found = Comparison(0, Counter(), Counter())
    for path in dict.fromkeys([*ours, *theirs]):
        plain = re.sub(r"\[\d+\]", "", path)
        why = _set_aside(plain, ours.get(path), theirs.get(path))
        if host_ended and HOST_ENDED.fullmatch(plain):
            why = "after ready, until the host ended the boot"
        if why is not None:
            found.aside[why] += 1
            continue
        found.compared += 1
        one, other = (
            _rewritten(values[path], rewrite, found.rewritten if first else Counter()) if path in values else MISSING
            for first, values in ((True, ours), (False, theirs))
        )
        if one != other:
            (found.inputs if INPUTS.search(plain) else found.differences).append((path, one, other))
    return found


def values_of(answer: Answer) -> Iterator[tuple[str, Any]]:
    """Yield every value of an answer with its path: of JSON its leaves, of text its lines; and how the call ended."""
    yield "exit code", answer.code
    document: Any = None
    if answer.form == "json" and answer.out:
        try:
            document = json.loads(answer.out)
        except ValueError:
            yield "not JSON", True
    if document is not None:
        yield from _leaves(document, "")
    else:
        yield from ((f"line {n}", line) for n, line in enumerate(answer.out.splitlines(), 1))
    if answer.code:
        yield from ((f"error, line {n}", line) for n, line in enumerate(answer.err.splitlines(), 1))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from _leaves(below, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for n, below in enumerate(value):
            yield from _leaves(below, f"{path}[{n}]")
    else:
        yield path, value


def _set_aside(path: str, before: Any, after: Any) -> str | None:
    """Return why a value does not count, or None: one that is there once, or in another form, does count."""
    for why, (paths, form) in SET_ASIDE.items():
        if paths.search(path) and form.fullmatch(json.dumps(before)) and form.fullmatch(json.dumps(after)):
            return why
    return None


def _rewritten(value: Any, rewrite: tuple[Rewriting, ...], counted: Counter[str]) -> str:
    # As JSON 1, 1.0, true and "1" are four values.
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        for one in rewrite:
            text, times = one.pattern.subn(one.instead, text)
            counted[one.name] += bool(times)
    return text
