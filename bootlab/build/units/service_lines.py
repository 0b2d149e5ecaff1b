"""systemd's .service files, as text: settings with their lines, words of a command, specifiers (systemd.syntax(7))."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " "}
_NUMBERS = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})")
_FOLDERS = {"t": "/run", "S": "/var/lib", "C": "/var/cache", "L": "/var/log", "E": "/etc", "T": "/tmp", "V": "/var/tmp"}
_SPECIFIER = re.compile(r"%(.?)")


class NotWritten(ValueError):
    """What a value says has no counterpart; its text says what."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a unit file: `key=value` under `[section]`, with its line."""

    section: str
    key: str
    value: str
    line: int


def read_settings(text: str) -> Iterator[Setting]:
    """Yield the settings of a unit file, each with the number of its first line; anything else is skipped."""
    section, joined, begin = "", "", 0
    for number, raw in enumerate([*text.splitlines(), ""], 1):
        line = raw.strip()
        if line[:1] in ("#", ";") or (not line and not joined):
            continue
        begin = begin if joined else number
        # Two backslashes are one that was escaped, and end the line.
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        joined += line[:-1] + " " if goes_on else line
        if goes_on:
            continue
        whole, joined = joined.strip(), ""
        if whole.startswith("["):
            section = whole.strip("[]")
        elif "=" in whole:
            key, _, value = whole.partition("=")
            yield Setting(section, key.strip(), value.strip(), begin)


def split_words(value: str) -> list[str]:
    """Return the words of a value: quotes and C's escapes taken away. Raises NotWritten when a quote is not closed."""
    words: list[str] = []
    at = 0
    while at < len(value):
        if value[at].isspace():
            at += 1
            continue
        word, at = _word(value, at)
        words.append(word)
    return words


def _word(value: str, at: int) -> tuple[str, int]:
    word, quote = "", ""
    while at < len(value) and (quote or not value[at].isspace()):
        char = value[at]
        at += 1
        if quote and char == quote:
            quote = ""
        elif not quote and char in "\"'":
            quote = char
        elif char == "\\" and at < len(value):
            number = _NUMBERS.match(value, at)
            if number:
                digits, base = (number[4], 8) if number[4] else (number[1] or number[2] or number[3], 16)
                word += chr(int(digits, base))
                at = number.end()
            else:
                word += _ESCAPES.get(value[at], value[at])
                at += 1
        else:
            word += char
    if quote:
        raise NotWritten("a quote is not closed")
    return word, at


def fill_in(text: str, name: str) -> str:
    """Return the text of the service `name` without specifiers. Raises NotWritten for one that is not known."""

    def known(found: re.Match[str]) -> str:
        letter = found[1]
        if letter == "%":
            return "%"
        if letter == "n":
            return f"{name}.service"
        if letter in ("N", "p"):
            return name
        if letter in _FOLDERS:
            return _FOLDERS[letter]
        raise NotWritten(f"%{letter} is not known before the system runs")

    return _SPECIFIER.sub(known, text)


def commands_of(words: list[str]) -> Iterator[list[str]]:
    """Yield the commands that a line of words holds: a word that is a semicolon parts them."""
    command: list[str] = []
    for word in words:
        if word == ";":
            if command:
                yield command
            command = []
        else:
            command.append(word)
    if command:
        yield command
