"""Watching for a kernel that hangs."""

from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.model.proofs import any_of, fact_is, never_runs
from bootlab.techniques.model.published import LINUX_612, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import LOCKUP_DETECTORS
from bootlab.techniques.model.technique import Risk, Technique, Text

TECHNIQUES = (
    Technique(
        name="cmdline_nowatchdog",
        text=Text(
            summary="starts no detector of soft and hard lockups",
            mechanism=(
                "lockup_detector_init() (kernel/watchdog.c) starts a high-resolution timer on each CPU, by a "
                "task that stops that CPU for it, and every four seconds the timer looks whether tasks "
                "still run. With the option it probes for a performance counter all the same, and starts "
                "none."
            ),
            cost="a CPU that hangs in the kernel is not reported",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}; no figure read"),),
        ),
        change=kernel_words("nowatchdog"),
        proof=any_of(never_runs("softlockup_start_fn"), fact_is("watchdog", "^0")),
        removes=Removes(
            LOCKUP_DETECTORS.what,
            functions=("softlockup_start_all", "softlockup_start_fn", "watchdog_timer_fn"),
            shortens=LOCKUP_DETECTORS.functions,
        ),
    ),
)
