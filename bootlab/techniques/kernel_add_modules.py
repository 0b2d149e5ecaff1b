"""Let the kernel load modules."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_modules",
    options={"MODULES": "y"},
    summary="lets the kernel load modules",
    mechanism="Symbols are exported with their names, and a loader links and relocates what init hands it.",
    cost="tables of symbols in the image",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
