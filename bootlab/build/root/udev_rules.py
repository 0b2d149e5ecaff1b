"""udev's rules, read where they lie in a root: which of them start programs, and which lines are no rules.

Only what that takes is read; the grammar is udev(7)'s: `KEY OP "VALUE"` with commas between, lines that end in a
backslash go on, `#` begins a comment.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from bootlab.build.formats.cpio import Entry

_FOLDERS: Final = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
_TOKEN: Final = re.compile(
    r'\s*,?\s*([A-Z][A-Z0-9_]*)(\{[^}]*\})?\s*(==|!=|\+=|-=|:=|=)\s*(?:e|i)?"((?:[^"\\]|\\.)*)"\s*'
)
_PROGRAMS: Final = {"PROGRAM": "", "IMPORT": "{program}", "RUN": ""}
HELPERS: Final = "/lib/udev/"
"""Where a program without a path is looked for."""


@dataclass(frozen=True, slots=True)
class ForkingRule:
    """A rule that starts a program when it matches. `program`: its path, without /usr before /lib, /bin and /sbin."""

    path: str
    line: int
    key: str
    program: str


@dataclass(frozen=True, slots=True)
class BadRule:
    """A line that is no rule, and what is wrong with it; udev leaves it out."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class UdevRules:
    """What the rules of a root say. `files`, `rules`: how many there are."""

    files: int
    rules: int
    forking: tuple[ForkingRule, ...]
    bad: tuple[BadRule, ...]


def read_rules(entries: Iterable[Entry]) -> UdevRules:
    """Return what the rules of a root say; a file of /etc is instead of one of the same name further down."""
    found: dict[str, tuple[int, Entry]] = {}
    for entry in entries:
        folder, name = str(PurePosixPath(entry.path).parent), PurePosixPath(entry.path).name
        base = folder.removesuffix("/udev/rules.d")
        if name.endswith(".rules") and base in _FOLDERS and folder != base:
            rank = _FOLDERS.index(base)
            if name not in found or rank < found[name][0]:
                found[name] = (rank, entry)
    forking, bad, rules = list[ForkingRule](), list[BadRule](), 0
    for _, entry in sorted(found.values(), key=lambda one: PurePosixPath(one[1].path).name):
        for number, line in _lines(entry.data.decode(errors="replace")):
            rules += 1
            tokens, rest = _tokens(line)
            if rest:
                bad.append(BadRule(f"/{entry.path}", number, f'expected KEY OP "VALUE" at: {rest[:40]}'))
            for key, attribute, value in tokens:
                if key in _PROGRAMS and _starts(key, attribute):
                    forking.append(ForkingRule(f"/{entry.path}", number, f"{key}{attribute}", program_path(value)))
    return UdevRules(len(found), rules, tuple(forking), tuple(bad))


def program_path(command: str) -> str:
    """Return the path of the program that a rule's command begins with, as `plain_path` has it."""
    words = command.split()
    first = words[0].strip("'") if words else ""
    return plain_path(first if first.startswith("/") else f"{HELPERS}{first}")


def plain_path(path: str) -> str:
    """Return a path without /usr, where /lib, /bin and /sbin are links to the folders in it."""
    return re.sub(r"^/usr/(?=lib/|bin/|sbin/)", "/", path)


def _starts(key: str, attribute: str) -> bool:
    return attribute in (("", "{program}") if key == "RUN" else (_PROGRAMS[key],))


def _lines(text: str) -> Iterable[tuple[int, str]]:
    whole, begun = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not whole:
            begun = number
            if not line.strip() or line.lstrip().startswith("#"):
                continue
        elif line.lstrip().startswith("#"):
            continue
        whole += line.rstrip()
        if whole.endswith("\\"):
            whole = whole[:-1]
            continue
        if whole.strip():
            yield begun, whole
        whole = ""
    if whole.strip():
        yield begun, whole


def _tokens(line: str) -> tuple[list[tuple[str, str, str]], str]:
    found, at = list[tuple[str, str, str]](), 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            rest = line[at:].strip(" \t,")
            return found, rest
        found.append((match[1], match[2] or "", match[4].replace('\\"', '"')))
        at = match.end()
    return found, ""
