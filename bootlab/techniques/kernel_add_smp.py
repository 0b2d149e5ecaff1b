"""Give the kernel several CPUs."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_smp",
    options={"SMP": "y"},
    summary="gives the kernel several CPUs",
    mechanism="Other CPUs are found and started, locks are real, and RCU waits for each of them.",
    cost="starting of CPUs, real locks, grace periods",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
