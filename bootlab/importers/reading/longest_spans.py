"""Keeps the longest spans of a long file, in bounded memory; timeline.stack_tree keeps the sums of all of them."""

from bootlab.timeline.event import Span
from bootlab.timeline.recording import MOST_SPANS

Bare = tuple[int, int, str, str, str, str]
"""A span as (start, end, source, name, track, about): a tuple costs a third of what a Span does."""


class LongestSpans:
    """Keeps the `most` longest spans of any number; the shortest go whenever twice as many have come."""

    def __init__(self, most: int = MOST_SPANS) -> None:
        self._most = most
        self._spans: list[Bare] = []
        self.least_ns = 0
        """What is shorter is not kept any more; a reader may spare itself the call."""
        self.dropped = 0

    def add(self, span: Bare) -> None:
        """Take a span, for now. One that ends before it begins, where a clock stepped back, is not taken."""
        if span[1] < span[0]:
            return
        self._spans.append(span)
        if len(self._spans) >= 2 * self._most:
            self._cut()

    def spans(self) -> list[Span]:
        """Return the longest, in no order."""
        if len(self._spans) > self._most:
            self._cut()
        return [Span(*span) for span in self._spans]

    def _cut(self) -> None:
        self._spans.sort(key=_length, reverse=True)
        self.dropped += len(self._spans) - self._most
        del self._spans[self._most :]
        self.least_ns = _length(self._spans[-1])


def _length(span: Bare) -> int:
    return span[1] - span[0]
