"""Recognises the garbage of a serial line that is read at another baud rate than it is written at.

A receiver that is too slow reads bits of several bytes as one, a too fast one reads one bit several times: either way
more than a quarter of the bytes are neither text nor UTF-8. tests/measure/causes/test_wrong_baud.py sends real consoles
through a UART, bit by bit, at every pair of the usual rates.
"""

_WINDOW = 256
_FEWEST = 48
# Text, and the control characters that consoles use: bell, backspace, tab, line feed, form feed, return, escape.
_TEXT = bytes(range(0x20, 0x7F)) + b"\x07\x08\t\n\x0c\r\x1b"
_GARBAGE_SHARE = 0.25
_TEXT_SHARE = 0.05

HINT = "is the line's rate another one? 115200, 9600, 57600, 38400, 921600, 1500000 and 3000000 are common"


_NO_WORD = "is this the board's port, is its power on, and do RX and TX cross?"


def find_line_cause(console: bytes, zero: str | None) -> str | None:
    """Return what may be wrong with the line of a board that said this and was not ready; None when nothing is known.

    `zero` is the pattern for time 0 that has not come yet, if one is awaited.
    """
    if not console:
        return _NO_WORD
    if len(console) >= _FEWEST and strange_share(console[-_WINDOW:]) > _GARBAGE_SHARE:
        return f"what came is garbage, as from a wrong baud rate: {HINT}"
    return f"no line had target.zero ({zero}), so no time was counted" if zero is not None else None


def strange_share(data: bytes) -> float:
    """Return the share of bytes that are neither text nor part of a character in UTF-8; 0 of nothing."""
    left = data.translate(None, _TEXT)
    if not left:
        return 0.0
    # A character may be cut at either end: what decodes is text, what does not is counted.
    strange = left.decode("utf-8", errors="replace")
    undecoded = strange.count("\ufffd") + sum(character < "\x80" for character in strange)
    return undecoded / len(data)


class GarbageWatch:
    """Follows the bytes of one line, and says when they have become garbage, and when text again."""

    def __init__(self) -> None:
        self._window = b""
        self.garbage = False

    def take(self, data: bytes) -> bool | None:
        """Account for bytes; return True when garbage has begun, False when it has ended, else None."""
        self._window = (self._window + data)[-_WINDOW:]
        if len(self._window) < _FEWEST:
            return None
        share = strange_share(self._window)
        if not self.garbage and share > _GARBAGE_SHARE:
            self.garbage = True
            return True
        if self.garbage and share < _TEXT_SHARE:
            self.garbage = False
            return False
        return None
