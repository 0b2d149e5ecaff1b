"""Build a preemptible kernel."""

from bootlab.techniques.build_options import LINUX_612, choice, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_preempt",
    options={
        **choice("PREEMPT", ("PREEMPT_NONE", "PREEMPT_VOLUNTARY", "PREEMPT", "PREEMPT_RT")),
        "PREEMPT_DYNAMIC": "n",
    },
    summary="builds a kernel that can be preempted almost anywhere",
    mechanism=(
        "A thread that becomes ready during boot, such as a driver probing asynchronously, runs at once "
        "and not when an initcall happens to sleep; the price is preemption counting everywhere."
    ),
    cost="more instructions on every lock; throughput falls a little",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, kernel/Kconfig.preempt"),),
)
