"""Give the kernel the frequency of its time stamp counter."""

from bootlab.system import System
from bootlab.techniques.cmdline import measured_words, x86_only
from bootlab.techniques.evidence import find_line, never_runs
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _words(system: System, measured: Measured) -> str | None:
    found = find_line(measured.facts, measured.console, r"tsc: Detected (\d+)\.(\d{3}) MHz")
    return f"tsc_early_khz={int(found.group(1) + found.group(2))}" if found else None


TECHNIQUE = measured_words(
    name="cmdline_tsc_early_khz",
    knob="tsc_early_khz=N, with N from the baseline boot's own log",
    words=_words,
    missing="the baseline boot's log does not say how fast the time stamp counter is",
    summary="tells the kernel how fast its time stamp counter is",
    mechanism=(
        "A CPU that does not enumerate its TSC frequency, with no hypervisor clock to tell it, has the counter timed "
        "against the PIT before anything else. The frequency of the CPU itself is timed all the same, so on kernels "
        "that take the one from the other nothing is saved."
    ),
    cost="a wrong value, on another CPU, makes every clock of the system wrong",
    risk=Risk.FUNCTION,
    sources=(
        Source("avoids <=50 ms PIT calibration; only without kvmclock", "K612: Linux 6.12.117, arch/x86/kernel/tsc.c"),
    ),
    prove=never_runs("native_calibrate_tsc"),
    applies=x86_only,
    watch=("native_calibrate_tsc",),
    removes=Removes("timing of the CPU's time stamp counter", functions=("native_calibrate_tsc",)),
)
