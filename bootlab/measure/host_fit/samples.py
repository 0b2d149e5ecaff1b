"""What the timing guest said (guest/host_fit/main.c): text -> ns of each thing that it timed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from bootlab.errors import BootFailed

_GREETING: Final = "bootlab-host-fit 1"
_SHIFT_MOST: Final = 32
_ALWAYS: Final = ("pages", "chunks", "rest_of_chunk", "sleep", "table", "branches", "clearing")
_LINE: Final = re.compile(r"(?P<name>[a-z0-9_]+)(?P<numbers>( -?\d+)+)")


@dataclass(frozen=True, slots=True)
class Timed:
    """What one guest timed. `ns`: name -> ns of one, a figure a batch; `lacking`: what raised an exception there.

    `rules`: the rule set of its CPU, `svm` or `vmx`; `sleep_ns`: how long each of its sleeps was to be.
    """

    rules: Literal["svm", "vmx"]
    ns: Mapping[str, tuple[float, ...]]
    lacking: tuple[str, ...]
    sleep_ns: int


def read_timed(text: str) -> Timed:
    """Return what the guest timed.

    Raises BootFailed where it did not come to its end, or where it has no clock of KVM's to turn ticks into ns.
    """
    lines = text.replace("\r", "").split("\n")
    if lines[0] != _GREETING or "end" not in lines:
        raise BootFailed(f"the timing guest did not come to its end: {_last(lines)}")
    figures: dict[str, tuple[int, ...]] = {}
    lacking, rules = [], ""
    for line in lines[1 : lines.index("end")]:
        word, _, rest = line.partition(" ")
        if word == "lacks":
            lacking.append(rest)
        elif word == "rules":
            rules = rest
        elif (found := _LINE.fullmatch(line)) is not None:
            figures[found["name"]] = tuple(int(one) for one in found["numbers"].split())
        else:
            raise BootFailed(f"the timing guest said what it never says: {ascii(line)[:80]}")
    if rules not in ("svm", "vmx") or len(figures.get("clock", ())) != 3 or "sleep_ns" not in figures:
        raise BootFailed(f"the timing guest left out its clock or its CPU: {_last(lines)}")
    left_out = [name for name in _ALWAYS if name not in figures]
    if left_out:
        raise BootFailed(f"the timing guest left out {left_out[0]}: {_last(lines)}")
    multiplier, shift, _ = figures.pop("clock")
    if not multiplier or abs(shift) > _SHIFT_MOST:
        raise BootFailed(
            "the timing guest finds no clock of KVM's (kvmclock)",
            hint="it runs under KVM alone, and on a host whose time stamp counter KVM trusts",
        )
    (sleep_ns,) = figures.pop("sleep_ns")
    none = [name for name, row in figures.items() if row[0] <= 0]
    if none:
        raise BootFailed(f"the timing guest timed {none[0]}: a batch of {figures[none[0]][0]}")
    # arch/x86/include/asm/pvclock.h, pvclock_scale_delta()
    ns_per_tick = multiplier * 2.0**shift / (1 << 32)
    timed = {name: tuple(one * ns_per_tick / row[0] for one in row[1:]) for name, row in figures.items()}
    empty = [name for name, row in timed.items() if not row]
    if empty:
        raise BootFailed(f"the timing guest timed {empty[0]} not once")
    return Timed("svm" if rules == "svm" else "vmx", timed, tuple(lacking), sleep_ns)


def _last(lines: list[str]) -> str:
    said = [line for line in lines if line]
    return f"its last line is {ascii(said[-1])[:80]}" if said else "it said nothing"
