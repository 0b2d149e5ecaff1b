"""Build /proc without sysctl and page maps."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_proc_options_off",
    options=off("PROC_SYSCTL", "PROC_PAGE_MONITOR"),
    gates={"EXPERT": "y", **off("HWPOISON_INJECT", "MEM_SOFT_DIRTY")},
    summary="builds /proc without /proc/sys and the maps of pages",
    mechanism=(
        "Tables of tunables are registered one by one in early initialisation and in initcalls; without "
        "/proc/sys no names are sorted into its tree."
    ),
    cost="no sysctl, no smaps, no clear_refs and no pagemap",
    risk=Risk.FUNCTION,
    sources=(Source("-9 KB of compressed kernel, no noticeable change of boot time", BOOTLIN_2019),),
    shows=never_runs("proc_sys_init"),
    watch=("proc_sys_init",),
    removes=Removes(
        "registering of sysctls", functions=("__register_sysctl_table", "sysctl_init_bases", "proc_sys_init")
    ),
)
