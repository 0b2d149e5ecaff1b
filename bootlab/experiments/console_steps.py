"""Two boots laid beside each other by what their consoles said: where one took longer, and what it alone said there.

A line is known again by its words: numbers, stamps and colours of a line differ from boot to boot. The lines that all
boots said, in the same order, cut each boot into steps that can be compared; the steps of a boot add up to its time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from bootlab.profile.recorded.trace import PluginTrace

POWER_ON: Final = "power-on"
READY: Final = "ready"
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|.)")
_STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ?")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]*\d[0-9a-fA-F]*\b|\d+")
_LONGEST: Final = 160
KINDS: Final = (
    # A unit's name is whole where systemd shortens its description: ssh-host-keys, Fedora's sshd-keygen@rsa.
    ("host keys", re.compile(r"ssh_host_|host[ -]key|sshd?-?keygen|Generating public/private", re.IGNORECASE)),
    ("machine-id", re.compile(r"machine[ -]ID|Detected first boot|First Boot", re.IGNORECASE)),
    ("growfs", re.compile(r"growpart|resized filesystem|resizing filesystem|resize2fs|growfs|Grow File System", re.I)),
    ("cloud-init", re.compile(r"cloud-init|ci-info|cloud-config|Cloud-init", re.IGNORECASE)),
)
"""What a machine does when it boots first, and the words by which a console tells of it."""


@dataclass(frozen=True, slots=True)
class SaidLine:
    """A line of a console and when its end was sent, in ns since power-on. `words`: by what it is known again."""

    t_ns: int
    text: str
    words: str


@dataclass(frozen=True, slots=True)
class ConsoleStep:
    """What lies between two lines that all of some boots said. `took_ns` and so on: of each boot, in their order.

    `ended_ns`: when, since power-on. `alone`: the lines that it said there and that end no step.
    """

    after: str
    until: str
    took_ns: tuple[int, ...]
    ended_ns: tuple[int, ...]
    alone: tuple[tuple[str, ...], ...]

    @property
    def spread_ns(self) -> int:
        """Return how much longer the longest took than the shortest."""
        return max(self.took_ns) - min(self.took_ns)

    @property
    def kinds(self) -> list[str]:
        """Return which works of a first boot the lines of this step tell of, those of the line at its end included."""
        return _kinds([self.until, *(line for lines in self.alone for line in lines)])

    @property
    def works(self) -> list[str]:
        """Return which of these works the first of the boots alone tells of."""
        return _kinds(self.alone[0])


def said_lines(raw: bytes, trace: PluginTrace, until_ns: int) -> list[SaidLine]:
    """Return the lines of a raw console up to a moment, each with the time of its end as the plugin stamped it.

    Pieces that the plugin stamped and that hold no words are left out: they tell nothing.
    """
    found, begin = [], 0
    for end, stamp in trace.console_ends():
        text = _shown(raw[begin:end])
        begin = end
        if stamp.t_ns <= until_ns and (words := _NUMBER.sub("#", text)) and re.search(r"[A-Za-z]{2}", words):
            found.append(SaidLine(stamp.t_ns, text[:_LONGEST], words))
    return found


def steps_between(boots: Sequence[tuple[Sequence[SaidLine], int]]) -> list[ConsoleStep]:
    """Return the steps that boots have in common; each boot is its lines and its time to ready in ns.

    The steps of each boot add up to its time to ready.
    """
    kept = _common([[line.words for line in lines] for lines, _ in boots])
    steps, before = [], [-1] * len(boots)
    for places in [*kept, tuple(len(lines) for lines, _ in boots)]:
        after, until = POWER_ON, READY
        if before[0] >= 0:
            after = boots[0][0][before[0]].text
        if places[0] < len(boots[0][0]):
            until = boots[0][0][places[0]].text
        took, ended, alone = [], [], []
        for (lines, ready_ns), begin, end in zip(boots, before, places, strict=True):
            begin_ns = lines[begin].t_ns if begin >= 0 else 0
            end_ns = lines[end].t_ns if end < len(lines) else ready_ns
            took.append(end_ns - begin_ns)
            ended.append(end_ns)
            alone.append(tuple(line.text for line in lines[begin + 1 : end]))
        steps.append(ConsoleStep(after, until, tuple(took), tuple(ended), tuple(alone)))
        before = list(places)
    return steps


def _kinds(said: Sequence[str]) -> list[str]:
    return [name for name, pattern in KINDS if any(pattern.search(line) for line in said)]


def _shown(raw: bytes) -> str:
    text = _ESCAPE.sub("", raw.decode("utf-8", "replace"))
    return _STAMP.sub("", "".join(letter for letter in text if letter.isprintable()).strip()).strip()


def _common(consoles: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """Return the places of the lines that all have, in an order that all have; a tuple has a place in each."""
    first = consoles[0]
    found: list[tuple[int, ...]] = [(place,) for place in range(len(first))]
    for other in consoles[1:]:
        blocks = SequenceMatcher(None, first, other, autojunk=False).get_matching_blocks()
        there = {block.a + step: block.b + step for block in blocks for step in range(block.size)}
        found = [(*places, there[places[0]]) for places in found if places[0] in there]
    return found
