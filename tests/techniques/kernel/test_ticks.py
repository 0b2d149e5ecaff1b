"""How often the timer ticks: null changes that move ticks move those of the kernel that is built."""

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured

HZ_100 = next(one for one in load_catalogue() if one.name == "kernel_hz_100")


def test_null_changes_move_the_new_kernels_own_ticks(built: System) -> None:
    measured = Measured({}, {}, {}, "", {"HZ_250": "y", "HZ_100": "n"})
    ticking = built.with_part("clock", null_tick_us=4000)
    assert HZ_100.change.apply(ticking, measured).clock.null_tick_us == 10_000
    assert HZ_100.change.apply(built, measured).clock.null_tick_us is None
