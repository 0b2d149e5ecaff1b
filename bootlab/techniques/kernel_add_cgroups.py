"""Give the system control groups."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_cgroups",
    options={"CGROUPS": "y", "MEMCG": "y", "CGROUP_SCHED": "y", "CGROUP_PIDS": "y"},
    summary="gives the system control groups: memory, CPU time, number of processes",
    mechanism=("Each controller is initialised and makes its files, and each page and object is charged to a group."),
    cost="a controller's state for every group, and accounting of memory",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
