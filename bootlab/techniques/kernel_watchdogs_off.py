"""Build without watchdogs of the kernel itself."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_watchdogs_off",
    options=off("SOFTLOCKUP_DETECTOR", "HARDLOCKUP_DETECTOR", "DETECT_HUNG_TASK", "WQ_WATCHDOG"),
    gates=off("BOOTPARAM_HARDLOCKUP_PANIC"),
    summary="builds without the detectors of CPUs and tasks that hang",
    mechanism=(
        "Each CPU gets a timer and a thread that looks at it, a performance counter is programmed for "
        "the hard-lockup detector, and a thread walks all tasks."
    ),
    cost="a hang is not reported by the kernel",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, lib/Kconfig.debug"),),
    shows=initcalls_gone("hung_task_init"),
    removes=Removes(
        "starting of watchdogs",
        functions=(
            "lockup_detector_init",
            "lockup_detector_setup",
            "softlockup_start_fn",
            "hung_task_init",
            "wq_watchdog_init",
        ),
    ),
)
