"""Columns of whole numbers for the page's scripts: as few bytes as will do, since a profile has millions of them.

A number takes as many bytes as it has groups of seven bits, a column that grows is kept as its differences, and all is
deflated. profile_data.js reads it back.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bootlab.report.parts.figures import visible
from bootlab.report.parts.markup import Html, tag

_LEVEL = 9


class Pack:
    """Named columns, to be put into the page as one block of data."""

    def __init__(self) -> None:
        self._columns: dict[str, dict[str, Any]] = {}
        self._parts: list[bytes] = []
        self._size = 0

    def numbers(self, name: str, values: NDArray[np.integer]) -> None:
        """Add a column of numbers, none of them negative."""
        numbers = values.astype(np.uint64)
        self._add(name, varints(numbers), "numbers", len(numbers), int(numbers.max(initial=0)))

    def differences(self, name: str, values: NDArray[np.integer]) -> None:
        """Add a column of numbers of which each is near the one before it."""
        signed = values.astype(np.int64)
        steps = np.diff(signed, prepend=0)
        folded = ((steps << 1) ^ (steps >> 63)).astype(np.uint64)
        self._add(name, varints(folded), "differences", len(signed), int(np.abs(signed).max(initial=0)))

    def texts(self, name: str, texts: Iterable[str]) -> None:
        """Add a column of texts. They come from the guest: what is not printable is spelled out, line ends too."""
        shown = [visible(one) for one in texts]
        self._add(name, "\n".join(shown).encode(), "text", len(shown), 0)

    def block(self, identity: str, facts: Mapping[str, Any]) -> Html:
        """Return the element that holds the columns and `facts`, which must be fit for JSON. Nothing runs it."""
        head = json.dumps({**facts, "columns": self._columns}, separators=(",", ":")).encode()
        whole = b"".join([len(head).to_bytes(4, "little"), head, *self._parts])
        packed = base64.b64encode(zlib.compress(whole, _LEVEL)).decode()
        # Base64 has nothing to escape, and an unknown type keeps the browser from taking it for a script.
        return tag("script", Html(packed), type="application/octet-stream", id=identity)

    def _add(self, name: str, data: bytes, form: str, count: int, largest: int) -> None:
        end = self._size + len(data)
        self._columns[name] = {
            "form": form,
            "count": count,
            "start": self._size,
            "end": end,
            "wide": largest >= 1 << 31,
        }
        self._parts.append(data)
        self._size = end


def varints(numbers: NDArray[np.uint64]) -> bytes:
    """Return each number in groups of seven bits, the lowest first; a set top bit says that another byte follows."""
    sizes = np.ones(len(numbers), dtype=np.int64)
    for groups in range(1, 10):
        sizes += numbers >> np.uint64(7 * groups) > 0
    ends = np.cumsum(sizes)
    data = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    for group in range(int(sizes.max(initial=0))):
        some = np.flatnonzero(sizes > group)
        bits = (numbers[some] >> np.uint64(7 * group)).astype(np.uint8) & 0x7F
        data[(ends - sizes)[some] + group] = bits | np.where(sizes[some] > group + 1, 0x80, 0).astype(np.uint8)
    return data.tobytes()
