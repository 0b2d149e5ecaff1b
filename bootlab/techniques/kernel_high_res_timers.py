"""Build with high-resolution timers."""

from bootlab.techniques.build_options import LINUX_612, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_high_res_timers",
    options={"HIGH_RES_TIMERS": "y"},
    summary="builds with timers that are more precise than a tick",
    mechanism=(
        "A usleep_range() or nanosleep() of some microseconds then ends in time, instead of at the next "
        "tick; drivers that poll in such sleeps probe sooner."
    ),
    cost="the timer hardware is programmed anew for each event",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, kernel/time/Kconfig"),),
)
