"""Build without BUG()."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_bug_off",
    options=off("BUG"),
    gates={"EXPERT": "y"},
    summary="builds without the checks that stop the kernel when something is impossible",
    mechanism=(
        "BUG() and WARN() compile to nothing, with the table of their places, so there is less code to "
        "load, unpack and run."
    ),
    cost="the kernel goes on after an error that it would have noticed, and may destroy data",
    risk=Risk.FUNCTION,
    sources=(Source("-118 KB (-5.8 %) of compressed kernel, together with PRINTK", BOOTLIN_2019),),
)
