"""How the kernel describes and hands out memory: its nodes, its tables, its allocator, its caching."""

from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.proofs import any_of, if_shown, initcalls_gone, line_appears, never_runs, now_runs
from bootlab.techniques.model.published import BOOTLIN_2019, LINUX_612, VENTURA_2024, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

TECHNIQUES = (
    rebuilt_kernel(
        "kernel_deferred_pages",
        Text(
            summary="leaves the setting up of most page structures to threads that run later, in parallel",
            mechanism=(
                "Only the first part of each memory node is set up before the scheduler runs; one thread a "
                "node does the rest, so the boot waits less the more memory and CPUs there are."
            ),
            cost="threads are busy just after boot; nothing is gained on small machines",
            risk=Risk.NONE,
            published=(
                Published("1 TB: -16 s, 64 GB: negligible", "DEF: lkml 1504.3/03018"),
                Published("-4 to -49 % of boot with several threads", "PAD: lkml 2005.3/04718"),
            ),
        ),
        WantedOptions(
            {"DEFERRED_STRUCT_PAGE_INIT": "y"},
            gates={"SPARSEMEM_VMEMMAP": "y"},
            needs=("SMP",),
            arch=("x86_64", "aarch64", "riscv64"),
        ),
        shows=any_of(line_appears("deferred pages initialised"), now_runs("deferred_init_memmap")),
    ),
    rebuilt_kernel(
        "kernel_numa_off",
        Text(
            summary="builds a kernel that knows one memory node only",
            mechanism=(
                "The firmware tables of nodes and distances are not read, memory and zones are not laid "
                "out per node, and the scheduler has no balancing between nodes."
            ),
            cost="on a machine with several nodes memory is taken from any of them",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, arch/x86/Kconfig"),),
        ),
        WantedOptions(off("NUMA")),
        shows=never_runs("x86_numa_init"),
        removes=Removes(
            "search for memory nodes",
            functions=(
                "x86_numa_init",
                "numa_init",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_slub_tiny",
        Text(
            summary="builds the slab allocator without per-CPU caches and debugging",
            mechanism=(
                "There is less of it to set up: no per-CPU slabs for each cache, no debugging, no files "
                "for each cache. It is what is left of the choice among SLAB, SLUB and SLOB; since 6.2."
            ),
            cost=(
                "one lock for each cache: allocation is slower, above all on several CPUs; free lists are neither "
                "randomised nor checked"
            ),
            risk=Risk.SECURITY,
            published=(
                Published(
                    "SLOB instead of SLAB: +1.43 s, -5 KB; SLUB: +2 ms, +4 KB; both choices are gone", BOOTLIN_2019
                ),
            ),
        ),
        WantedOptions({"SLUB_TINY": "y"}, gates={"EXPERT": "y"}),
        # The last one is for both, in newer ones (6.12.117).
        shows=initcalls_gone("slab_sysfs_init", "slab_debugfs_init", "slab_late_init"),
        removes=Removes(
            "files of the slab allocator", functions=("slab_sysfs_init", "slab_debugfs_init", "slab_late_init")
        ),
    ),
    rebuilt_kernel(
        "kernel_small_tables",
        Text(
            summary="builds the core with smaller tables for processes, wait queues and users",
            mechanism=(
                "Hash tables of fixed size and other structures of the core are made for few processes; "
                "there is less to clear at boot."
            ),
            cost="slower with many processes; process ids end at 4096 unless kernel.pid_max says otherwise",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, init/Kconfig"),),
        ),
        WantedOptions({"BASE_SMALL": "y"}, gates={"EXPERT": "y"}),
        shows=if_shown(line_appears(r"pid_max: default: 4096 ")),
    ),
    rebuilt_kernel(
        "kernel_x86_5level_off",
        Text(
            summary="builds with four levels of page tables only",
            mechanism=(
                "The check in the decompressor and every place that must work with both depths go away; "
                "the decompressor needs no trampoline to switch between them."
            ),
            cost="more than 64 TiB of memory cannot be used",
            risk=Risk.FUNCTION,
            published=(none_published(f"{VENTURA_2024}, kernel without it; no isolated figure"),),
        ),
        WantedOptions(off("X86_5LEVEL"), arch=("x86_64",)),
    ),
    rebuilt_kernel(
        "kernel_mtrr_off",
        Text(
            summary="builds without the registers that say how memory is cached",
            mechanism=(
                "The ranges set by the firmware are read, printed and copied, and the page attribute table "
                "is programmed with caches off and flushed."
            ),
            cost="device memory cannot be mapped write-combined; graphics are slow",
            risk=Risk.FUNCTION,
            published=(none_published(f"{VENTURA_2024}, kernel without it; no isolated figure"),),
        ),
        WantedOptions(off("MTRR", "X86_PAT"), gates={"EXPERT": "y"}, arch=("x86_64",)),
        shows=never_runs("mtrr_bp_init"),
        removes=Removes("memory type ranges", functions=("mtrr_bp_init", "mtrr_init_finalize", "pat_cpu_init")),
    ),
)
