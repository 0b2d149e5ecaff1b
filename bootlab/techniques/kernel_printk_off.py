"""Build without kernel messages."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_printk_off",
    options=off("PRINTK"),
    gates={"EXPERT": "y"},
    drops=("LOG_BUF_SHIFT",),
    summary="builds a kernel without messages: none is formatted, kept or printed",
    mechanism=(
        "Every printk() is compiled out with its text, so nothing is formatted, stored or sent to a slow "
        "console, and the kernel is smaller."
    ),
    cost="no kernel log at all, not even of a crash",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "-190 ms together with BUG and KALLSYMS, on top of quiet (767 - 577 ms); -118 KB with BUG", BOOTLIN_2019
        ),
        Source(
            '"same effect as quiet", smaller kernel',
            "BL: Bootlin boot-time training slides, bootlin/training-materials 3d3e192",
        ),
    ),
    shows=never_runs("vprintk_emit"),
    watch=("vprintk_emit",),
    removes=Removes("kernel messages", functions=("vprintk_emit", "vprintk_store", "console_unlock")),
)
