"""Checks, files and tables for those who look for errors in the kernel."""

from bootlab.techniques.changes.kernel_options import WantedOptions, choice, off, rebuilt_kernel
from bootlab.techniques.model.proofs import any_of, initcalls_gone, line_vanishes, never_runs
from bootlab.techniques.model.published import AGNOS, BOOTLIN_2019, LINUX_612, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import LOCKUP_DETECTORS
from bootlab.techniques.model.technique import Risk, Text

TECHNIQUES = (
    rebuilt_kernel(
        "kernel_bug_off",
        Text(
            summary="builds without the words of the checks that stop the kernel when something is impossible",
            mechanism=(
                "WARN() compiles to nothing and BUG() to a bare trap or an endless loop, without the table "
                "of their places and their words, so there is less code to load, unpack and run."
            ),
            cost="no warning of what goes wrong; where the kernel must stop, it dies or hangs and does not say where",
            risk=Risk.FUNCTION,
            published=(Published("-118 KB (-5.8 %) of compressed kernel, together with PRINTK", BOOTLIN_2019),),
        ),
        WantedOptions(off("BUG"), gates={"EXPERT": "y"}),
    ),
    rebuilt_kernel(
        "kernel_debug_checks_off",
        Text(
            summary='builds without the run-time checks and debugging helpers of the menu "Kernel hacking"',
            mechanism=(
                "Checks of lists, locks, slabs, page tables and boot parameters run in every boot, some as "
                "tests of their own; tables of messages and of dynamic debugging are set up and make the "
                "image larger."
            ),
            cost=(
                "errors in the kernel are noticed later or not at all, and so is who makes use of them: KFENCE and "
                "the check of the stack's end go too"
            ),
            risk=Risk.SECURITY,
            published=(
                Published(
                    "-6 ms to user space, -38 KB (-1.7 %) of compressed kernel, with debug information", BOOTLIN_2019
                ),
                Published("-100 to -200 ms with tracers (SDM845)", AGNOS),
            ),
        ),
        WantedOptions(
            off(
                "DEBUG_MISC",
                "SLUB_DEBUG",
                "DEBUG_PREEMPT",
                "DEBUG_BOOT_PARAMS",
                "DEBUG_LIST",
                "DEBUG_SG",
                "DEBUG_NOTIFIERS",
                "DEBUG_VM",
                "DEBUG_VM_PGTABLE",
                "DEBUG_VIRTUAL",
                "DEBUG_MEMORY_INIT",
                "DEBUG_PER_CPU_MAPS",
                "DEBUG_SPINLOCK",
                "DEBUG_MUTEXES",
                "DEBUG_RT_MUTEXES",
                "DEBUG_RWSEMS",
                "DEBUG_ATOMIC_SLEEP",
                "DEBUG_LOCKING_API_SELFTESTS",
                "PROVE_LOCKING",
                "PROVE_RCU",
                "LOCK_STAT",
                "DEBUG_OBJECTS",
                "DEBUG_KMEMLEAK",
                "DEBUG_PAGEALLOC",
                "PAGE_OWNER",
                "PAGE_POISONING",
                "KASAN",
                "KFENCE",
                "KCSAN",
                "UBSAN",
                "SCHED_STACK_END_CHECK",
                "DEBUG_ENTRY",
                "DEBUG_TIMEKEEPING",
                "RCU_TRACE",
                "LATENCYTOP",
                "DEBUG_STACK_USAGE",
                "DEBUG_BUGVERBOSE",
                "RUNTIME_TESTING_MENU",
                "PROVIDE_OHCI1394_DMA_INIT",
                "X86_VERBOSE_BOOTUP",
                "EARLY_PRINTK_DBGP",
                "DYNAMIC_DEBUG",
                "PRINTK_INDEX",
            ),
            gates={"EXPERT": "y"},
            # Until 6.6, and so on Debian 12, it is the check that the other one asks for.
            kept_by={"DEBUG_LIST": ("BUG_ON_DATA_CORRUPTION",)},
        ),
        removes=Removes(
            "checks of kernel hacking",
            functions=(
                "dynamic_debug_init",
                "debug_vm_pgtable",
                "slab_sysfs_init",
                "slab_late_init",
                "kfence_init",
                "kmemleak_init",
                "boot_params_ksysfs_init",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_debug_fs_off",
        Text(
            summary="builds without the debugging file system",
            mechanism=(
                "Dozens of subsystems make their files in it in initcalls, each an inode and a dentry that "
                "nobody opens."
            ),
            cost="nothing is found under /sys/kernel/debug",
            risk=Risk.FUNCTION,
            published=(Published("-100 to -200 ms with tracers and other debugging (SDM845)", AGNOS),),
        ),
        WantedOptions(
            off("DEBUG_FS"),
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
        ),
        shows=initcalls_gone("debugfs_init"),
        removes=Removes(
            "files in debugfs",
            functions=(
                "debugfs_create_dir",
                "debugfs_create_file",
                "__debugfs_create_file",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_debug_info_off",
        Text(
            summary="builds without debug information and the type information made of it",
            mechanism=(
                "The type information of BPF lies in the loaded image and is checked at boot; the rest of "
                "the debug information only makes the file and the build larger."
            ),
            cost="no source lines in debuggers, and no BPF programs that need type information",
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "-6 ms to user space, -38 KB (-1.7 %) of compressed kernel, with all compile-time checks",
                    BOOTLIN_2019,
                ),
            ),
        ),
        WantedOptions(
            choice(
                "DEBUG_INFO_NONE",
                ("DEBUG_INFO_NONE", "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT", "DEBUG_INFO_DWARF4", "DEBUG_INFO_DWARF5"),
            ),
            gates=off("DEBUG_INFO_BTF"),
            needs=("DEBUG_INFO",),
        ),
        shows=initcalls_gone("btf_vmlinux_init"),
    ),
    rebuilt_kernel(
        "kernel_debug_wx_off",
        Text(
            summary="leaves out the walk through all page tables that looks for code that can be written to",
            mechanism=(
                "At the end of boot ptdump walks every kernel page table entry, twice with page-table "
                "isolation, to warn of mappings both writable and executable."
            ),
            cost="a mistake in the protection of kernel memory is not reported",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, mm/Kconfig.debug"),),
        ),
        WantedOptions(off("DEBUG_WX", "DEBUG_RODATA_TEST", "PTDUMP_DEBUGFS")),
        shows=any_of(never_runs("ptdump_walk_pgd_level_checkwx"), line_vanishes("Checked W\\+X mappings")),
        removes=Removes(
            "search for writable code",
            functions=(
                "ptdump_walk_pgd_level_checkwx",
                "ptdump_walk_user_pgd_level_checkwx",
                "ptdump_walk_pgd_level_core",
                "rodata_test",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_sched_debug_off",
        Text(
            summary="builds without the scheduler's debugging files and statistics",
            mechanism=(
                "The files under debugfs are not made, domains are not described there, and no statistics "
                "are kept at each switch of tasks."
            ),
            cost="no scheduler statistics in /proc and debugfs",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, lib/Kconfig.debug"),),
        ),
        WantedOptions(off("SCHED_DEBUG", "SCHEDSTATS"), gates=off("LATENCYTOP")),
        shows=initcalls_gone("sched_init_debug"),
        removes=Removes("files of the scheduler", functions=("sched_init_debug", "proc_schedstat_init")),
    ),
    rebuilt_kernel(
        "kernel_watchdogs_off",
        Text(
            summary="builds without the detectors of CPUs and tasks that hang",
            mechanism=(
                "Each CPU gets a timer and a thread that looks at it, a performance counter is programmed "
                "for the hard-lockup detector, and a thread walks all tasks."
            ),
            cost="a hang is not reported by the kernel",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, lib/Kconfig.debug"),),
        ),
        WantedOptions(
            off("SOFTLOCKUP_DETECTOR", "HARDLOCKUP_DETECTOR", "DETECT_HUNG_TASK", "WQ_WATCHDOG"),
            gates=off("BOOTPARAM_HARDLOCKUP_PANIC"),
        ),
        shows=initcalls_gone("hung_task_init"),
        removes=LOCKUP_DETECTORS.also(
            "softlockup_start_fn", "hung_task_init", "wq_watchdog_init", what="starting of watchdogs"
        ),
    ),
)
