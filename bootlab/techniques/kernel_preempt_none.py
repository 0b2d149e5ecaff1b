"""Build without preemption of the kernel."""

from bootlab.techniques.build_options import VENTURA_2024, choice, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_preempt_none",
    options={
        **choice("PREEMPT_NONE", ("PREEMPT_NONE", "PREEMPT_VOLUNTARY", "PREEMPT", "PREEMPT_RT")),
        "PREEMPT_DYNAMIC": "n",
    },
    summary="builds a kernel that is never preempted, with the RCU flavour that goes with it",
    mechanism=(
        "No preemption counts, no calls to might_resched() to patch at boot, and tree or tiny RCU that "
        "needs no note of preempted readers."
    ),
    cost="a long system call delays all others; worse latency under load",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel with PREEMPT_NONE; no isolated figure"),),
)
