"""Give the kernel the delay-loop value that it measured last time."""

from bootlab.system import System
from bootlab.techniques.cmdline import measured_words
from bootlab.techniques.evidence import find_line, line_appears
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _words(system: System, measured: Measured) -> str | None:
    found = find_line(measured.facts, measured.console, r"\(lpj=(\d+)\)")
    return f"lpj={found.group(1)}" if found else None


TECHNIQUE = measured_words(
    name="cmdline_lpj",
    knob="lpj=N, with N from the baseline boot's own log",
    words=_words,
    missing="the baseline boot's log does not say which lpj the kernel found",
    summary="presets the delay loop with the value that the baseline boot found",
    mechanism=(
        "Without a preset calibrate_delay() counts loops over several timer ticks, up to 250 ms for each CPU. A kernel "
        "that knows the frequency of its timer computes the value instead, and then there is nothing to save."
    ),
    cost="a wrong value, on a faster or slower CPU, makes udelay() too short or too long",
    risk=Risk.NONE,
    sources=(
        Source(
            "-83 ms (BeagleBone Black, Linux 6.1)",
            "BL: Bootlin boot-time training slides, bootlin/training-materials 3d3e192",
        ),
        Source("doc: up to 250 ms/CPU; no-op under KVM_GUEST", "K612: Linux 6.12.117 source"),
        Source('"doesn\'t help" on SDM845', "COM: commaai/agnos-builder issue 216"),
    ),
    prove=line_appears(r"\(skipped\) preset value"),
    removes=Removes("measuring of the delay loop", functions=("calibrate_delay",)),
)
