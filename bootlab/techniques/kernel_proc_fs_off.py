"""Build without /proc."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_proc_fs_off",
    options=off("PROC_FS"),
    gates={"EXPERT": "y"},
    summary="builds without the proc file system",
    mechanism=(
        "Every subsystem enters its files and sysctl tables into /proc in its initcalls; without it "
        "those calls are empty, and so is the code behind them."
    ),
    cost=("no /proc: most programs, and bootlab's own facts about the guest, do without much of what they read"),
    risk=Risk.FUNCTION,
    sources=(Source("-48 KB of LZO-compressed kernel; the application did not run without it", BOOTLIN_2019),),
    shows=never_runs("proc_root_init"),
    watch=("proc_root_init",),
    removes=Removes(
        "files in /proc",
        functions=(
            "proc_root_init",
            "proc_register",
            "proc_mkdir_data",
            "__register_sysctl_table",
            "sysctl_init_bases",
        ),
    ),
)
