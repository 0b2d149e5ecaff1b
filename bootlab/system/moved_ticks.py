"""How far a boot's ticks are moved against its kernel's work, so that the moment of a tick is chance as well."""

import re
from typing import Final

from bootlab.system.kernel import NULL_WORD
from bootlab.system.value import System

_MILLIONTHS: Final = 1_000_000
_GOLDEN_MILLIONTHS: Final = 618_034
"""Multiples of the golden ratio, modulo 1, lie evenly in 0 to 1 however many of them are taken (H. Weyl, 1916)."""
_NULL: Final = re.compile(rf"(?:^| ){re.escape(NULL_WORD)}=(\d{{1,9}})(?= |$)")


def moved_ticks_ns(system: System) -> int:
    """Return how far the ticks of this boot are moved, in ns; 0 where its file does not say how far apart they are.

    Less than one tick. The seed decides, and in a null change the number of that, half a tick from the seed's.
    """
    tick_us = system.clock.tick_us
    if tick_us is None:
        return 0
    null = _NULL.search(system.kernel.cmdline)
    number, begin = (system.seed, 0) if null is None else (int(null[1]), _MILLIONTHS // 2)
    part = (begin + number * _GOLDEN_MILLIONTHS) % _MILLIONTHS
    return tick_us * 1000 * part // _MILLIONTHS
