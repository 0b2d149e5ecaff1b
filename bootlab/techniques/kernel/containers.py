"""What containers are made of: control groups and namespaces."""

from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.proofs import initcalls_gone
from bootlab.techniques.model.published import LINUX_612, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

TECHNIQUES = (
    rebuilt_kernel(
        "kernel_cgroups_off",
        Text(
            summary="builds without control groups",
            mechanism=(
                "Each controller is initialised and mounted on a default hierarchy with dozens of files, "
                "and every new task is attached to it."
            ),
            cost="no containers, and no systemd",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, init/Kconfig"),),
        ),
        WantedOptions(off("CGROUPS"), gates=off("SCHED_AUTOGROUP")),
        shows=initcalls_gone("cgroup_wq_init"),
        removes=Removes(
            "control groups",
            functions=("cgroup_init", "cgroup_init_early", "cgroup_wq_init", "cgroup1_wq_init", "cgroup_sysfs_init"),
        ),
    ),
    rebuilt_kernel(
        "kernel_memcg_off",
        Text(
            summary="builds without the control group controller of memory",
            mechanism="Every page and slab object is charged to a group, and each cache carries a vector for it.",
            cost="no memory limits for containers and services",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, init/Kconfig"),),
        ),
        WantedOptions(off("MEMCG")),
        shows=initcalls_gone("mem_cgroup_init"),
        removes=Removes(
            "memory controller", functions=("mem_cgroup_init", "mem_cgroup_css_alloc", "mem_cgroup_css_online")
        ),
    ),
    rebuilt_kernel(
        "kernel_namespaces_off",
        Text(
            summary="builds without separate name spaces for processes, networks and users",
            mechanism=(
                "Caches and initial namespaces are set up, and each subsystem registers what it does for a new one."
            ),
            cost="containers do not work without them; services run without the isolation that they ask for",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, init/Kconfig"),),
        ),
        WantedOptions(off("NAMESPACES"), gates={"EXPERT": "y"}),
        shows=initcalls_gone("user_namespaces_init", "pid_namespaces_init"),
        removes=Removes("namespaces", functions=("user_namespaces_init", "pid_namespaces_init", "utsname_sysctl_init")),
    ),
)
