"""Build without NUMA."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_numa_off",
    options=off("NUMA"),
    summary="builds a kernel that knows one memory node only",
    mechanism=(
        "The firmware tables of nodes and distances are not read, memory and zones are not laid out per "
        "node, and the scheduler has no balancing between nodes."
    ),
    cost="on a machine with several nodes memory is taken from any of them",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, arch/x86/Kconfig"),),
    shows=never_runs("x86_numa_init"),
    watch=("x86_numa_init",),
    removes=Removes(
        "search for memory nodes",
        functions=(
            "x86_numa_init",
            "numa_init",
        ),
    ),
)
