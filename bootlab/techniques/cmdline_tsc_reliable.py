"""Trust the time stamp counter."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, x86_only
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_tsc_reliable",
    words="tsc=reliable",
    summary="trusts the time stamp counter without watching it",
    mechanism=(
        "The kernel otherwise compares the TSC with a second clock source every half second until it believes "
        "in it, checks synchronisation between CPUs, and may fall back to a slower clock for good."
    ),
    cost="on a machine whose TSC does drift the clock goes wrong silently",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED,
            (
                'KATA: kata-containers 01e56a7, qemu_amd64.go and DV: David Ventura, "Minimizing Linux boot times", '
                "2024, DavidVentura/blog c798a2e pass the option; no isolated figure read"
            ),
        ),
    ),
    prove=never_runs("clocksource_watchdog"),
    applies=x86_only,
    watch=("clocksource_watchdog",),
    removes=Removes("watching of the time stamp counter", functions=("clocksource_watchdog",)),
)
