"""Watching for a kernel that hangs."""

from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.model.proofs import any_of, fact_is, never_runs
from bootlab.techniques.model.published import LINUX_612, none_published
from bootlab.techniques.model.subjects import LOCKUP_DETECTORS
from bootlab.techniques.model.technique import Risk, Technique, Text

TECHNIQUES = (
    Technique(
        name="cmdline_nowatchdog",
        text=Text(
            summary="starts no detector of soft and hard lockups",
            mechanism=(
                "lockup_detector_init() starts a high-resolution timer and a stopper task on each CPU and "
                "probes for a performance counter that could interrupt a stuck CPU."
            ),
            cost="a CPU that hangs in the kernel is not reported",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}; no figure read"),),
        ),
        change=kernel_words("nowatchdog"),
        proof=any_of(never_runs("softlockup_start_fn"), fact_is("watchdog", "^0")),
        removes=LOCKUP_DETECTORS,
    ),
)
