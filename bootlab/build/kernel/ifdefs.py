"""Finds the functions and calls of a C source that stand under `#if CONFIG_X`: an option takes them out of the file.

Read from the text, as it is laid out by the kernel's coding style: a definition starts in the first column, its body
with `{` in the first column or on that line. What only inline functions of headers do is not seen here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

Guards = frozenset[str]
"""Options that must be on for a piece of text to be compiled; `!X` for one that must be off."""

_Key = TypeVar("_Key")
_OPTION = re.compile(r"CONFIG_(\w+)")
_CONDITIONAL = re.compile(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)")
_SYSCALL = re.compile(r"(?:COMPAT_)?SYSCALL_DEFINE\d\((\w+)")
SYSCALL_NAMES = ("__x64_sys_", "__se_sys_", "__do_sys_", "__arm64_sys_", "__riscv_sys_", "sys_")
"""What the functions of system calls are called, before the call's own name."""
_DEFINITION = re.compile(r"[A-Za-z_][\w\s\*]*?\b(\w+)\s*\((?!.*;\s*$)")
_KEYWORDS = frozenset({"if", "while", "for", "switch", "return", "sizeof", "defined"})
_NO_NAMES = _KEYWORDS | {"EXPORT_SYMBOL", "EXPORT_SYMBOL_GPL", "__attribute__"}
_LINES_OF_PARAMETERS = 12
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


@dataclass(frozen=True)
class GuardedCode:
    """What of one source needs options beyond those that compile the file."""

    functions: dict[str, Guards]
    """Function -> the options it needs, where it needs any; of two definitions what both need."""
    calls: dict[tuple[str, str], Guards]
    """(function, what it calls) -> the options that the call needs beyond the function's own, where it needs any.

    A call that stands there without them too is none.
    """


def guarded_code(text: str) -> GuardedCode:
    """Return what stands under options in a C source."""
    if "CONFIG_" not in text:
        return GuardedCode({}, {})
    functions, calls = dict[str, Guards](), dict[tuple[str, str], Guards]()
    inside: tuple[str, Guards] | None = None
    for line, guards, opened in _with_bodies(text):
        if syscall := _SYSCALL.match(line):
            for prefix in SYSCALL_NAMES:
                _meet(functions, f"{prefix}{syscall[1]}", guards)
        if opened is not None:
            inside = opened
            _meet(functions, *opened)
        elif line.startswith("}"):
            inside = None
        elif inside is not None:
            for callee in _CALL.findall(line):
                if callee not in _KEYWORDS:
                    _meet(calls, (inside[0], callee), guards - inside[1])
    return GuardedCode(
        {name: guards for name, guards in functions.items() if guards},
        {pair: guards for pair, guards in calls.items() if guards},
    )


def _meet(found: dict[_Key, Guards], key: _Key, guards: Guards) -> None:
    found[key] = found[key] & guards if key in found else guards


def _with_bodies(text: str) -> Iterator[tuple[str, Guards, tuple[str, Guards] | None]]:
    """Give each line with its options, and the function whose body opens on it, with the function's own."""
    begun: tuple[str, Guards, int] | None = None
    for number, (line, guards) in enumerate(_guarded_lines(text)):
        if line[:1] not in " \t#/}" and (found := _DEFINITION.match(line)) and found[1] not in _NO_NAMES:
            begun = (found[1], guards, number)
        opened = None
        if begun is not None and (line.startswith("{") or (begun[2] == number and "{" in line)):
            if number - begun[2] < _LINES_OF_PARAMETERS:
                opened = (begun[0], begun[1])
            begun = None
        yield line, guards, opened


def _guarded_lines(text: str) -> Iterator[tuple[str, Guards]]:
    stack = list[Guards]()
    all_of: Guards = frozenset()
    for line in text.replace("\\\n", " ").split("\n"):
        found = _CONDITIONAL.match(line) if "#" in line else None
        if found is None:
            yield line, all_of
            continue
        kind, words = found.groups()
        if kind == "endif":
            del stack[-1:]
        elif kind == "else" and stack:
            stack[-1] = _opposite(stack[-1])
        elif kind == "elif" and stack:
            stack[-1] = _needs("if", words)
        elif kind in ("if", "ifdef", "ifndef"):
            stack.append(_needs(kind, words))
        all_of = frozenset().union(*stack)


def _needs(kind: str, words: str) -> Guards:
    words = re.sub(r"/\*.*?\*/", "", words)
    options = _OPTION.findall(words)
    if not options or "||" in words:
        return frozenset()
    if kind == "ifndef":
        return frozenset({f"!{options[0]}"})
    if kind == "ifdef":
        return frozenset({options[0]})
    needs = set[str]()
    for part in words.split("&&"):
        inner = _OPTION.findall(part)
        if len(inner) == 1:
            needs.add(f"!{inner[0]}" if "!" in part.replace("!=", "") else inner[0])
    return frozenset(needs)


def _opposite(guards: Guards) -> Guards:
    if len(guards) != 1:
        return frozenset()
    (word,) = guards
    return frozenset({word[1:] if word[0] == "!" else f"!{word}"})
