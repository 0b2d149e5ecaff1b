"""How often the timer ticks: where ticks are moved, they are those of the kernel that is built."""

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured

HZ_100 = next(one for one in load_catalogue() if one.name == "kernel_hz_100")


def test_the_new_kernels_own_ticks_are_moved(built: System) -> None:
    measured = Measured({}, {}, {}, "", {"HZ_250": "y", "HZ_100": "n"})
    ticking = built.with_part("clock", tick_us=4000)
    assert HZ_100.change.apply(ticking, measured).clock.tick_us == 10_000
    assert HZ_100.change.apply(built, measured).clock.tick_us is None
