"""Text -> the keys of a US keyboard, by QEMU's names (QKeyCode): pure."""

import difflib
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

KEYS: Final = frozenset(
    """
    shift shift_r alt alt_r ctrl ctrl_r menu esc 1 2 3 4 5 6 7 8 9 0 minus equal backspace tab q w e r t y u i o p
    bracket_left bracket_right ret a s d f g h j k l semicolon apostrophe grave_accent backslash z x c v b n m comma dot
    slash asterisk spc caps_lock f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 num_lock scroll_lock kp_divide kp_multiply kp_subtract
    kp_add kp_enter kp_decimal sysrq kp_0 kp_1 kp_2 kp_3 kp_4 kp_5 kp_6 kp_7 kp_8 kp_9 less f11 f12 print home pgup pgdn
    end left up down right insert delete stop again props undo front copy open paste find cut lf help meta_l meta_r
    compose pause ro hiragana henkan yen muhenkan katakanahiragana kp_comma kp_equals power sleep wake audionext
    audioprev audiostop audioplay audiomute volumeup volumedown mediaselect mail calculator computer ac_home ac_back
    ac_forward ac_refresh ac_bookmarks lang1 lang2 f13 f14 f15 f16 f17 f18 f19 f20 f21 f22 f23 f24
    """.split()
)
"""QEMU 10's QKeyCode, but for `unmapped`. One that it has not got has the screen not looked at, and nothing typed."""
_CALLED: Final[Mapping[str, str]] = {
    "enter": "ret", "return": "ret", "space": "spc", "escape": "esc", "del": "delete", "ins": "insert", "win": "meta_l",
    "super": "meta_l", "control": "ctrl", "pageup": "pgup", "pagedown": "pgdn", "altgr": "alt_r", "period": "dot",
}  # fmt: skip
"""What people call keys."""

Chord = tuple[str, ...]
"""Keys that are down together, in the order in which they are pressed."""


def chords_of_text(text: str) -> tuple[Chord, ...]:
    """Return what is pressed for each character. Raises ValueError for one that a US keyboard has not got."""
    return tuple(_chord_of(letter) for letter in text)


def chord(words: str) -> Chord:
    """Return the keys of `ctrl-alt-f2`. Raises ValueError for what is no such words, and a key that is not known."""
    if _CHORD.fullmatch(words) is None:
        raise ValueError(
            f"{brief(words)!r} is not keys by QEMU's names with - between them, eight at most, as in 'ret' or "
            "'ctrl-alt-f2'"
        )
    keys = tuple(words.split("-"))
    for name in keys:
        if name not in KEYS:
            near = _CALLED.get(name) or next(iter(difflib.get_close_matches(name, sorted(KEYS), n=1)), None)
            raise ValueError(f"no key has QEMU's name {name!r}{f': it calls one {near!r}' if near is not None else ''}")
    if len(set(keys)) < len(keys):
        raise ValueError(f"{words!r} has a key twice, and a key that is down cannot be pressed")
    return keys


def _chord_of(letter: str) -> Chord:
    if letter in _SHIFTED:
        return ("shift", *_chord_of(_SHIFTED[letter]))
    if letter in _PLAIN:
        return (_PLAIN[letter],)
    if letter.isascii() and letter.isalnum():
        return ("shift", letter.lower()) if letter.isupper() else (letter,)
    raise ValueError(f"no key of a US keyboard types {letter!r}")
