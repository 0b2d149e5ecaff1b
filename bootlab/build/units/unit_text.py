"""Writes the text of a converted unit of bootlab-init (docs/init.md), with what could not be converted."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bootlab.build.units.plan import Problem

MOST_WORDS = 63
"""Most words of one command or one environment: guest/init/units/units.h has room for them and an end."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%^~$&*?!{}[]()<>|;#")


@dataclass(frozen=True, slots=True)
class Converted:
    """One file, as a unit. `text` is None when it can be none, which a problem says."""

    name: str
    path: str
    text: str | None
    problems: tuple[Problem, ...]


@dataclass(slots=True)
class UnitText:
    """A unit being written. Lines come out in the order of their first mention, names of one key on one line."""

    name: str
    path: str
    problems: list[Problem] = field(default_factory=list)
    broken: bool = False
    _lines: list[tuple[str, str]] = field(default_factory=list)
    _names: dict[str, dict[str, None]] = field(default_factory=dict)

    def say(self, line: int, message: str) -> None:
        """Note what was left out or changed, with the line of the original."""
        self.problems.append(Problem(self.path, line, message))

    def set(self, key: str, value: str) -> None:
        """Give a key its value, instead of one it had."""
        self.unset(key)
        self._lines.append((key, value))

    def add(self, key: str, value: str) -> None:
        """Give a key one more line."""
        self._lines.append((key, value))

    def unset(self, key: str) -> None:
        """Take back what a key was given."""
        self._lines = [one for one in self._lines if one[0] != key]

    def add_command(self, key: str, words: Sequence[str], line: int, *, may_fail: bool = False) -> None:
        """Add a command; what cannot be written breaks the unit."""
        written = self.words(words, line)
        if written is None:
            self.broken = True
        else:
            self._lines.append((key, ("-" if may_fail else "") + written))

    def words(self, words: Sequence[str], line: int) -> str | None:
        """Return the words as one line has them, or None when it can have none such, which is said."""
        if len(words) > MOST_WORDS:
            self.say(line, f"{len(words)} words; a line of a unit has {MOST_WORDS} at most")
            return None
        if any(ord(char) < ord(" ") or ord(char) == 0x7F for word in words for char in word):
            self.say(line, "a word with a line feed, a tab or another control character: a unit cannot have it")
            return None
        return " ".join(_quoted(word) for word in words)

    def refer(self, key: str, *names: str) -> None:
        """Name other units: needs, wants, after, before, provides."""
        self._names.setdefault(key, {}).update(dict.fromkeys(name for name in names if name != self.name))

    def names(self, key: str) -> frozenset[str]:
        """Return the names that were added under a key that takes several."""
        return frozenset(self._names.get(key, ()))

    def converted(self) -> Converted:
        """Return the unit as text, None where it is broken, with all that there is to say, by line."""
        lines = [f"# From {self.path} by `bootlab init convert`."]
        lines += [f"{key} {value}" for key, value in self._lines]
        lines += [f"{key} {' '.join(names)}" for key, names in self._names.items() if names]
        text = None if self.broken else "\n".join(lines) + "\n"
        problems = sorted(self.problems, key=lambda problem: problem.line)
        return Converted(self.name, self.path, text, tuple(problems))


def _quoted(word: str) -> str:
    if word and all(char in _PLAIN for char in word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
