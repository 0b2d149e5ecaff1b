"""Build with 100 ticks a second."""

from bootlab.techniques.build_options import choice, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_hz_100",
    options=choice("HZ_100", ("HZ_100", "HZ_250", "HZ_300", "HZ_1000")),
    summary="builds with 100 timer ticks a second",
    mechanism=(
        "Fewer interrupts on the way; but every wait that is counted in ticks is rounded up to 10 ms, "
        "and calibrations that wait for ticks take longer."
    ),
    cost="sleeps without high-resolution timers are rounded to 10 ms",
    risk=Risk.NONE,
    sources=(
        Source(
            NONE_PUBLISHED,
            (
                "microVM kernels of arcboxlabs (kernel issue 18) use HZ=100; 6.12 rounds msleep() to ticks "
                "(kernel/time/timer.c)"
            ),
        ),
    ),
)
