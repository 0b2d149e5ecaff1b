"""Build without debugfs."""

from bootlab.techniques.build_options import off, option_technique
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_debug_fs_off",
    options=off("DEBUG_FS"),
    gates=off(
        "BLK_DEV_IO_TRACE",
        "KCOV",
        "GCOV_KERNEL",
        "DRM_I915_DEBUG",
        "PAGE_OWNER",
        "FUNCTION_ERROR_INJECTION",
        "NOTIFIER_ERROR_INJECTION",
        "SUNRPC_DEBUG",
    ),
    summary="builds without the debugging file system",
    mechanism=(
        "Dozens of subsystems make their files in it in initcalls, each an inode and a dentry that nobody opens."
    ),
    cost="nothing is found under /sys/kernel/debug",
    risk=Risk.FUNCTION,
    sources=(
        Source("-100 to -200 ms with tracers and other debugging (SDM845)", "COM: commaai/agnos-builder issue 216"),
    ),
    removes=Removes(
        "files in debugfs",
        functions=(
            "debugfs_create_dir",
            "debugfs_create_file",
            "__debugfs_create_file",
        ),
    ),
)
