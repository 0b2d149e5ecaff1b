"""Give the kernel its assertions."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_bug",
    options={"BUG": "y"},
    gates={"EXPERT": "y"},
    summary="gives the kernel its assertions and their reports",
    mechanism=("A check that fails stops the task or the kernel with a report, instead of going on with broken data."),
    cost="a table of places, and the checks themselves",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
