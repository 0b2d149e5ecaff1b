"""The time axis that systemd's two SVG charts share: how much time one step of x is."""

import re
from typing import Final

NUMBER: Final = r"-?\d{1,9}(?:\.\d{1,6})?"
"""A coordinate as the charts print it."""
# <text class="sec" x="100.000" y="-5.000" >1.0s</text>
_LABEL = re.compile(rf'<text class="sec" x="(?P<x>{NUMBER})"[^>]*>(?P<s>{NUMBER})s</text>')


def axis_scale(row: str) -> float | None:
    """Return the ns of one step of x; None for a line that is no label of the axis, or is its zero."""
    found = _LABEL.search(row)
    if found is None or not float(found["x"]) or not float(found["s"]):
        return None
    return float(found["s"]) * 1e9 / float(found["x"])
