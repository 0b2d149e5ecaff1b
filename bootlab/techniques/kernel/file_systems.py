"""File systems that the kernel makes up itself: /proc, /sys, configfs, /dev."""

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import initcalls_gone, line_appears, never_runs
from bootlab.techniques.model.published import BOOTLIN_2019, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text


def _root_on_disk(system: System, measured: Measured) -> str | None:
    return None if system.initramfs is None else "the kernel mounts /dev over a root file system, not over an initramfs"


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_proc_fs_off",
        Text(
            summary="builds without the proc file system",
            mechanism=(
                "Every subsystem enters its files and sysctl tables into /proc in its initcalls; without "
                "it those calls are empty, and so is the code behind them."
            ),
            cost=(
                "no /proc: most programs, and bootlab's own facts about the guest, do without much of what they read; "
                "no sysctl, so settings that protect (fs.protected_symlinks) stay at the kernel's default"
            ),
            risk=Risk.SECURITY,
            published=(
                Published("-48 KB of LZO-compressed kernel; the application did not run without it", BOOTLIN_2019),
            ),
        ),
        WantedOptions(off("PROC_FS"), gates={"EXPERT": "y"}),
        shows=never_runs("proc_root_init"),
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
    ),
    rebuilt_kernel(
        "kernel_proc_options_off",
        Text(
            summary="builds /proc without /proc/sys and the maps of pages",
            mechanism=(
                "Tables of tunables are registered one by one in early initialisation and in initcalls; "
                "without /proc/sys no names are sorted into its tree."
            ),
            cost=(
                "no sysctl, so settings that protect (fs.protected_symlinks) stay at the kernel's default; no smaps, "
                "no clear_refs and no pagemap"
            ),
            risk=Risk.SECURITY,
            published=(Published("-9 KB of compressed kernel, no noticeable change of boot time", BOOTLIN_2019),),
        ),
        WantedOptions(
            off("PROC_SYSCTL", "PROC_PAGE_MONITOR"), gates={"EXPERT": "y", **off("HWPOISON_INJECT", "MEM_SOFT_DIRTY")}
        ),
        shows=never_runs("proc_sys_init"),
        removes=Removes(
            "registering of sysctls", functions=("__register_sysctl_table", "sysctl_init_bases", "proc_sys_init")
        ),
    ),
    rebuilt_kernel(
        "kernel_sysfs_off",
        Text(
            summary="builds without the file system that shows devices and their attributes",
            mechanism=(
                "A directory for each device, driver, bus, class, module and parameter, links among them "
                "and a file for each attribute: thousands of small allocations that most small systems "
                "never read."
            ),
            cost=(
                "no /sys: udev, and all that finds devices through it, does not work; no security modules, which are "
                "controlled there"
            ),
            risk=Risk.SECURITY,
            published=(Published("-35 ms to user space, -22 KB of LZO-compressed kernel", BOOTLIN_2019),),
        ),
        WantedOptions(
            off("SYSFS"),
            gates={
                "EXPERT": "y",
                **off(
                    "CONFIGFS_FS",
                    "SECURITY",
                    "BLK_DEV_IO_TRACE",
                    "BLK_DEV_NULL_BLK",
                    "STM",
                    "TARGET_CORE",
                    "TSM_REPORTS",
                    "TDX_GUEST_DRIVER",
                    "SEV_GUEST",
                ),
            },
        ),
        shows=never_runs("sysfs_init"),
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
    ),
    rebuilt_kernel(
        "kernel_configfs_off",
        Text(
            summary="builds without the file system that configures some drivers from user space",
            mechanism=(
                "One more pseudo file system to register, and its users with it: USB gadgets, the storage "
                "target, network console."
            ),
            cost=(
                "what is configured through /sys/kernel/config is gone, and so are the reports by which an encrypted "
                "guest (SEV-SNP, TDX) proves what it runs"
            ),
            risk=Risk.SECURITY,
            published=(Published("-7 KB of compressed kernel", BOOTLIN_2019),),
        ),
        WantedOptions(
            off("CONFIGFS_FS"),
            gates=off(
                "NETCONSOLE_DYNAMIC",
                "USB_LIBCOMPOSITE",
                "USB_CONFIGFS",
                "TARGET_CORE",
                "NVME_TARGET",
                "OCFS2_FS",
                "DLM",
                "IIO_CONFIGFS",
                "BLK_DEV_NULL_BLK",
                "GPIO_SIM",
                "TSM_REPORTS",
                "TDX_GUEST_DRIVER",
                "SEV_GUEST",
                "STM",
            ),
        ),
        shows=initcalls_gone("configfs_init"),
        removes=Removes("configfs", functions=("configfs_init",)),
    ),
    rebuilt_kernel(
        "kernel_devtmpfs_mount",
        Text(
            summary="lets the kernel mount /dev over the root file system, before init",
            mechanism=(
                "Init need not make device nodes or mount anything before it can open its console and "
                "disks. A kernel does this for a root file system on a disk only, never for an initramfs."
            ),
            cost="none worth naming: one more mount in the kernel",
            risk=Risk.NONE,
            published=(none_published("arcboxlabs/arcbox issue 558; no figure"),),
        ),
        WantedOptions({"DEVTMPFS": "y", "DEVTMPFS_MOUNT": "y"}, applies=_root_on_disk),
        shows=line_appears("devtmpfs: mounted"),
    ),
)
