"""Build without scheduler statistics."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_sched_debug_off",
    options=off("SCHED_DEBUG", "SCHEDSTATS"),
    gates=off("LATENCYTOP"),
    summary="builds without the scheduler's debugging files and statistics",
    mechanism=(
        "The files under debugfs are not made, domains are not described there, and no statistics are "
        "kept at each switch of tasks."
    ),
    cost="no scheduler statistics in /proc and debugfs",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, lib/Kconfig.debug"),),
    shows=initcalls_gone("sched_init_debug"),
    removes=Removes("files of the scheduler", functions=("sched_init_debug", "proc_schedstat_init")),
)
