"""Build without sysfs."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_sysfs_off",
    options=off("SYSFS"),
    gates={
        "EXPERT": "y",
        **off("CONFIGFS_FS", "SECURITY", "BLK_DEV_IO_TRACE", "BLK_DEV_NULL_BLK", "STM", "TARGET_CORE", "TSM_REPORTS"),
    },
    summary="builds without the file system that shows devices and their attributes",
    mechanism=(
        "A directory for each device, driver, bus, class, module and parameter, links among them and a "
        "file for each attribute: thousands of small allocations that most small systems never read."
    ),
    cost="no /sys: udev, and all that finds devices through it, does not work",
    risk=Risk.FUNCTION,
    sources=(Source("-35 ms to user space, -22 KB of LZO-compressed kernel", BOOTLIN_2019),),
    shows=never_runs("sysfs_init"),
    watch=("sysfs_init",),
    removes=Removes(
        "files in /sys",
        functions=(
            "sysfs_init",
            "sysfs_create_dir_ns",
            "sysfs_add_file_mode_ns",
            "sysfs_add_bin_file_mode_ns",
            "internal_create_group",
            "internal_create_groups",
            "sysfs_do_create_link_sd",
            "sysfs_create_file_ns",
            "param_sysfs_init",
            "param_sysfs_builtin_init",
        ),
    ),
)
