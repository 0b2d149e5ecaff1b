"""Build without control groups."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_cgroups_off",
    options=off("CGROUPS"),
    gates=off("SCHED_AUTOGROUP"),
    summary="builds without control groups",
    mechanism=(
        "Each controller is initialised and mounted on a default hierarchy with dozens of files, and "
        "every new task is attached to it."
    ),
    cost="no containers, and no systemd",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, init/Kconfig"),),
    shows=initcalls_gone("cgroup_wq_init"),
    removes=Removes(
        "control groups",
        functions=("cgroup_init", "cgroup_init_early", "cgroup_wq_init", "cgroup1_wq_init", "cgroup_sysfs_init"),
    ),
)
