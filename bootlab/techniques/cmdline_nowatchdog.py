"""Run no lockup detectors."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.evidence import any_of, fact_is, never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_nowatchdog",
    words="nowatchdog",
    summary="starts no detector of soft and hard lockups",
    mechanism=(
        "lockup_detector_init() starts a high-resolution timer and a stopper task on each CPU and probes for "
        "a performance counter that could interrupt a stuck CPU."
    ),
    cost="a CPU that hangs in the kernel is not reported",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, "K612: Linux 6.12.117 source; no figure read"),),
    prove=any_of(never_runs("softlockup_start_fn"), fact_is("watchdog", "^0")),
    watch=("softlockup_start_fn",),
    removes=Removes(
        "lockup detectors",
        functions=(
            "lockup_detector_init",
            "lockup_detector_setup",
        ),
    ),
)
