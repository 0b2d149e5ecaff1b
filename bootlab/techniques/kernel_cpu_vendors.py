"""Build for the CPUs of two makers."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_cpu_vendors",
    options=off("CPU_SUP_HYGON", "CPU_SUP_CENTAUR", "CPU_SUP_ZHAOXIN"),
    gates={"EXPERT": "y", "PROCESSOR_SELECT": "y"},
    arch=("x86_64",),
    summary="builds without the code for rare makers of x86 CPUs",
    mechanism=(
        "What is left is asked for its identity sooner; the tables and quirks of the others are not in "
        "the image. It is as near as 6.12 comes to leaving out microcode loading, which is no option any "
        "more."
    ),
    cost="CPUs of Hygon, Centaur and Zhaoxin run without their quirks",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel without them; no isolated figure"),),
)
