"""Where the guest's own clock lies on the boot's: printk stamps against the times at which their lines were sent.

On the virtual clock the plugin stamps each console line exactly; on the wall clock the host stamps its arrival. Either
way the kernel's log, whose clock starts somewhere in its own boot, can then be read in ns since power-on.
"""

from collections.abc import Sequence

from bootlab.errors import InputError
from bootlab.importers import dmesg
from bootlab.timeline.clock import Alignment, Clock, align

VIRTUAL = Clock("virtual", 1)
HOST = Clock("host", 1)


def place_guest_clock(lines: Sequence[tuple[int, str]], clock: Clock) -> Alignment | None:
    """Return how printk stamps are read on `clock`, from console lines (ns since power-on, text).

    None when too few lines carry a stamp: a quiet kernel, or one without printk.time.
    """
    pairs = []
    for sent_ns, text in lines:
        found = dmesg.parse(text).lines
        if found and found[0].t_ns is not None:
            pairs.append((found[0].t_ns, sent_ns))
    try:
        return align(pairs, dmesg.PRINTK, clock)
    except InputError:
        return None
