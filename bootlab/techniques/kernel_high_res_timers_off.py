"""Build without high-resolution timers."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_high_res_timers_off",
    options=off("HIGH_RES_TIMERS"),
    summary="builds with timers that are only as precise as a tick",
    mechanism=(
        "The switch to one-shot mode at boot and the programming of the timer hardware for each event go "
        "away; short sleeps last until the next tick instead, so a boot with many of them gets longer."
    ),
    cost="sleeps are rounded up to a tick",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, kernel/time/Kconfig"),),
)
