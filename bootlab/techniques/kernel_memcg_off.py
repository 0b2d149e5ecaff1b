"""Build without the memory controller."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_memcg_off",
    options=off("MEMCG"),
    summary="builds without the control group controller of memory",
    mechanism="Every page and slab object is charged to a group, and each cache carries a vector for it.",
    cost="no memory limits for containers and services",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, init/Kconfig"),),
    shows=initcalls_gone("mem_cgroup_init"),
    removes=Removes(
        "memory controller", functions=("mem_cgroup_init", "mem_cgroup_css_alloc", "mem_cgroup_css_online")
    ),
)
