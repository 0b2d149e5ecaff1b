"""The trace of a boot that went on from another's mark: that one's up to the mark, and its own from there on.

As text, in the plugin's words (plugin/trace_format.h), so that whoever reads it reads the trace of one whole boot.
"""

from collections.abc import Sequence

_HEADER_LINES = 2
_COUNTS = {"reads": 2, "modelled": 2, "settled": 1}
"""Records of two counts -> words ahead of these."""
_MARKS = ("mark", "guest", "answered", "typed", "seen")


def join_traces(before: str, mark: str, after: str) -> str:
    """Return one trace. `before`: the whole trace of the boot that was kept at `mark`; `after`: of what went on.

    Raises ValueError where `before` has no such mark.
    """
    lines = before.split("\n")[:-1]
    last = next((n for n, line in enumerate(lines) if _is_mark(line, mark)), None)
    if last is None:
        raise ValueError(f"the trace has no mark {mark}")
    head, ending = lines[: last + 1], lines[last + 1 :]
    joined = _Joined(head, ending)
    # The last piece is empty, or what a QEMU that was killed had no time to finish.
    own = after.split("\n")
    return "\n".join(
        [*head, *(joined.line(line) for line in own[_HEADER_LINES:-1] if line not in joined.told), own[-1]]
    )


class _Joined:
    """Counts that begin at 0 in each process, and go on in the boot."""

    def __init__(self, head: Sequence[str], ending: Sequence[str]) -> None:
        self.told = {line for line in head if line.startswith(("exact ", "refused "))}
        # The latest of each; some are told as the process ends.
        self._counted = {
            tuple(words[:named]): [int(word) for word in words[named:]]
            for words in (line.split(" ") for line in (*head, *ending))
            if (named := _COUNTS.get(words[0]))
        }
        # What was sent of a line that had not ended yet: it is told as the process ends.
        self._unended = sum(int(line.split(" ")[-1]) for line in ending if line.startswith("console "))

    def line(self, line: str) -> str:
        """Return a record of the later process as one of the whole boot."""
        words = line.split(" ")
        if named := _COUNTS.get(words[0]):
            before = self._counted.get(tuple(words[:named]), [0, 0])
            sums = (int(word) + count for word, count in zip(words[named:], before, strict=True))
            return " ".join([*words[:named], *map(str, sums)])
        if words[0] == "console":
            size, self._unended = int(words[-1]) + self._unended, 0
            return " ".join([*words[:-1], str(size)])
        return line


def _is_mark(line: str, name: str) -> bool:
    words = line.split(" ", 2)
    return words[0] in _MARKS and words[1:2] == [name]
