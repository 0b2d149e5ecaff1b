"""Text -> the keys of a US keyboard, by QEMU's names (QKeyCode): pure."""

import re
from collections.abc import Mapping
from typing import Final

from bootlab.system.part import brief

_CHORD: Final = re.compile(r"[a-z0-9_]{1,32}(-[a-z0-9_]{1,32}){0,7}")
_PLAIN: Final[Mapping[str, str]] = {
    " ": "spc", "\n": "ret", "\t": "tab", "-": "minus", "=": "equal", "[": "bracket_left", "]": "bracket_right",
    ";": "semicolon", "'": "apostrophe", "`": "grave_accent", "\\": "backslash", ",": "comma", ".": "dot",
    "/": "slash",
}  # fmt: skip
_SHIFTED: Final[Mapping[str, str]] = dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True))

Chord = tuple[str, ...]
"""Keys that are down together, in the order in which they are pressed."""


def chords_of_text(text: str) -> tuple[Chord, ...]:
    """Return what is pressed for each character. Raises ValueError for one that a US keyboard has not got."""
    return tuple(_chord_of(letter) for letter in text)


def chord(words: str) -> Chord:
    """Return the keys of `ctrl-alt-f2`. Raises ValueError for what is no such words."""
    if _CHORD.fullmatch(words) is None:
        raise ValueError(
            f"{brief(words)!r} is not keys by QEMU's names with - between them, eight at most, as in 'ret' or "
            "'ctrl-alt-f2'"
        )
    return tuple(words.split("-"))


def _chord_of(letter: str) -> Chord:
    if letter in _SHIFTED:
        return ("shift", *_chord_of(_SHIFTED[letter]))
    if letter in _PLAIN:
        return (_PLAIN[letter],)
    if letter.isascii() and letter.isalnum():
        return ("shift", letter.lower()) if letter.isupper() else (letter,)
    raise ValueError(f"no key of a US keyboard types {letter!r}")
