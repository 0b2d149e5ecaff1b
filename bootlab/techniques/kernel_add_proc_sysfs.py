"""Give the system /proc and /sys."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_proc_sysfs",
    options={"PROC_FS": "y", "PROC_SYSCTL": "y", "SYSFS": "y", "TMPFS": "y", "SHMEM": "y"},
    gates={"EXPERT": "y"},
    summary="gives the system /proc, /sys and tmpfs",
    mechanism=(
        "What programs, and bootlab's own facts, ask the kernel about itself; every driver, device and "
        "subsystem then enters its files."
    ),
    cost="a directory and files for each device, driver and parameter",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
