"""Spans of time as systemd prints them: `79ms`, `2.584s`, `1min 9.608s`, `2h 3min`, `1w 2d`.

By src/basic/time-util.c, format_timespan(): whole numbers of large units first, and only the last may have a fraction.
"""

import re
from typing import Final

_NS: Final = {
    "y": 31_557_600_000_000_000, "month": 2_629_800_000_000_000, "w": 604_800_000_000_000, "d": 86_400_000_000_000,
    "h": 3_600_000_000_000, "min": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "μs": 1_000,
    "µs": 1_000,
}  # fmt: skip
PATTERN: Final = r"\d{1,9}(?:\.\d{1,9})?(?:y|month|min|ms|us|µs|μs|w|d|h|s)(?![a-zµμ])"
"""One part of a span, such as `9.608s`."""
SPAN: Final = rf"(?:{PATTERN})(?: {PATTERN})*|0"
"""A whole span; nothing at all is `0`."""
_PART = re.compile(r"(\d+)(?:\.(\d+))?([a-zµμ]+)")
_WHOLE = re.compile(SPAN)


def parse_timespan(text: str) -> int | None:
    """Return a span in ns, exactly; None when it is none."""
    if _WHOLE.fullmatch(text) is None:
        return None
    total = 0
    for whole, fraction, unit in _PART.findall(text):
        total += int(whole) * _NS[unit] + (int(fraction) * _NS[unit] // 10 ** len(fraction) if fraction else 0)
    return total
