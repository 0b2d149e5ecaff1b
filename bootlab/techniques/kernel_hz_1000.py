"""Build with 1000 ticks a second."""

from bootlab.techniques.build_options import choice, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_hz_1000",
    options=choice("HZ_1000", ("HZ_100", "HZ_250", "HZ_300", "HZ_1000")),
    summary="builds with 1000 timer ticks a second",
    mechanism=(
        "msleep() and timeouts are counted in ticks and rounded up: with ticks of 1 ms instead of 4 or "
        "10, and the checks that wait for five ticks, the boot waits less."
    ),
    cost="more interrupts a second while CPUs are busy",
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
