"""Finds where the guest's clock lies on the boot's: printk stamps against the times at which their lines were sent.

On the virtual clock the plugin stamps each console line exactly; on the wall clock the host stamps its arrival. Either
way the kernel's log, whose clock starts somewhere in its own boot, can then be read in ns since power-on.
"""

from collections.abc import Sequence

from bootlab.errors import InputError
from bootlab.importers.kernel import dmesg
from bootlab.timeline.clock import Alignment, Clock, align

VIRTUAL = Clock("virtual", 1)
HOST = Clock("host", 1)
_JUMP_NS = 1_000_000


def place_guest_clock(lines: Sequence[tuple[int, str]], clock: Clock) -> Alignment | None:
    """Return how printk stamps are read on `clock`, from console lines (ns since power-on, text).

    None when too few lines carry a stamp: a quiet kernel, or one without printk.time.
    """
    pairs = []
    for sent_ns, text in lines:
        found = dmesg.parse(text).lines
        if found and found[0].t_ns is not None:
            pairs.append((found[0].t_ns, sent_ns))
    if clock == VIRTUAL:
        pairs = _after_last_jump(pairs)
    try:
        return align(pairs, dmesg.PRINTK, clock)
    except InputError:
        return None


def _after_last_jump(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    # With exact stamps an offset falls by more than a line takes for one of two causes: printk's clock jumped ahead
    # (it changed its source), or a backlog ran out. Either way only what comes after it tells where the clock lies.
    start = 0
    for number, (before, after) in enumerate(zip(pairs, pairs[1:], strict=False), 1):
        if (after[1] - after[0]) < (before[1] - before[0]) - _JUMP_NS:
            start = number
    return pairs[start:]
