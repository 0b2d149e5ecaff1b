"""How memory is laid out, and how much of it the kernel takes: hash tables sized by it, its nodes, a limit."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words, measured_words, word_value
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.changes.machine import fixed_by_board
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_falls, find_line, line_appears, line_changes
from bootlab.techniques.model.published import LINUX_612, OWN_CATALOGUE, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Technique, Text

_DENTRIES = 4096
_UNPACKED_MIB = 64
"""The least limit: a board's unpacked kernel lies below it. Its device tree need not (FDT_FIXED_BASE, Linux 5.11)."""
_PLACED_MIB = 256
"""The same where a bootloader places an initramfs, near the end of the first 160 MiB (bootm_size of U-Boot's sunxi)."""
_KERNEL_MIB = 16
"""What is taken for the kernel itself, which it does not count in its total."""
_CMA = r"^Memory: .*?(\d+)K cma-reserved"
_SIZE = r"Dentry cache hash table entries: (\d+)"


def _has_larger_tables(system: System, measured: Measured) -> str | None:
    found = find_line(measured.facts, measured.console, _SIZE)
    if found is None or int(found[1]) > _DENTRIES:
        return None
    return f"memory is small, and so are the tables: {found[1]} dentries"


def _can_have_nodes(system: System, measured: Measured) -> str | None:
    if (arch := system.machine.arch) == "armv7":
        return f"Linux knows no NUMA nodes on {arch}"
    if known(system, measured) and not is_on(system, measured, "NUMA"):
        return "NUMA is off in this kernel"
    return None


def _limit(system: System, measured: Measured) -> str | None:
    total_kib, free_kib = (_kib(measured, key) for key in ("mem_total_kib", "mem_free_kib"))
    if total_kib is None or free_kib is None:
        return None
    used_mib = (total_kib - free_kib >> 10) + _KERNEL_MIB
    least_mib = _UNPACKED_MIB if system.initramfs is None or system.initramfs.embedded else _PLACED_MIB
    # Set aside for drivers in one piece; until they take it the kernel counts it as free.
    cma = find_line(measured.facts, measured.console, _CMA)
    wanted_mib = 2 * used_mib + (int(cma[1]) >> 10 if cma is not None else 0)
    limit_mib = max(least_mib, 1 << (wanted_mib - 1).bit_length())
    return f"mem={limit_mib}M"


def _kib(measured: Measured, key: str) -> int | None:
    value = measured.facts.get(key, "")
    return int(value) if value.isdecimal() else None


def _has_memory_to_leave(system: System, measured: Measured) -> str | None:
    if system.machine.type.is_real:
        return "nobody knows where the board's bootloader puts device tree and initramfs"
    if fixed_by_board(system) is None:
        return "the machine itself can have less (machine.memory_mib, machine_memory_half)"
    if (said := word_value(system, "mem")) is not None:
        return f"the command line has mem={said}"
    if word_value(system, "crashkernel") is not None:
        return "memory is set aside for a kernel that starts after a crash (crashkernel), and is not counted"
    limit, total_kib = _limit(system, measured), _kib(measured, "mem_total_kib")
    if limit is None or total_kib is None or int(limit.removeprefix("mem=").removesuffix("M")) << 10 < total_kib:
        return None
    return f"the boot uses more than a quarter of its {total_kib >> 10} MiB"


TECHNIQUES = (
    Technique(
        name="cmdline_hash_entries",
        text=Text(
            summary="makes the kernel's large hash tables small",
            mechanism=(
                "The tables for dentries, inodes, mounts and sockets are sized by memory and cleared at "
                "boot; on a machine with much memory that is many megabytes touched for the first time."
            ),
            cost="long hash chains once many files or connections are open",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}; less page touching on big guests; no figure read"),),
        ),
        change=kernel_words(
            f"dhash_entries={_DENTRIES} ihash_entries=4096 mhash_entries=512 mphash_entries=512 "
            "thash_entries=1024 uhash_entries=256",
            _has_larger_tables,
        ),
        proof=line_changes(_SIZE),
        removes=Removes("large hash tables", functions=("alloc_large_system_hash",)),
    ),
    Technique(
        name="cmdline_numa_off",
        text=Text(
            summary="does not look for NUMA nodes",
            mechanism=(
                "The kernel otherwise parses ACPI's SRAT and SLIT, and on x86-64 asks the northbridge, or reads "
                "the device tree, before it takes all memory as one node (x86_numa_init(), "
                "arch/x86/mm/numa.c; arch_numa_init(), drivers/base/arch_numa.c). Where none is described "
                "that is soon over."
            ),
            cost="a machine with several memory nodes is treated as one",
            risk=Risk.FUNCTION,
            published=(none_published(OWN_CATALOGUE),),
        ),
        change=kernel_words("numa=off", _can_have_nodes),
        # What the fallback to one node says, by its reason: x86-64, the others.
        proof=line_appears("NUMA turned off|NUMA disabled"),
        # numa_init() runs all the same, for the one node.
        removes=Removes(
            "the search for NUMA nodes",
            functions=("x86_acpi_numa_init", "amd_numa_init", "arch_acpi_numa_init", "of_numa_init"),
            shortens=("numa_init",),
        ),
    ),
    Technique(
        name="cmdline_mem",
        text=Text(
            summary="lets the kernel take only as much of a board's memory as the job needs, twice over",
            mechanism=(
                "The kernel writes a structure for each page of 4 KiB before anything else can run, 100 "
                "instructions a page, puts the page into its free lists, and sizes hash tables by all of them. Only "
                "some architectures do most of that later, or in parallel (DEFERRED_STRUCT_PAGE_INIT: not 32-bit arm)."
            ),
            cost=(
                "the memory above the limit is nobody's until the next boot: a job that takes more once it is ready "
                "than was in use by then may not get it"
            ),
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, mm/mm_init.c: memmap_init_range()"),),
        ),
        change=measured_words(
            (
                "mem=SIZE: a power of two, at least twice what the boot had in use after ready, with what is set aside "
                "for drivers (CMA), and at least 64M; 256M where a bootloader places an initramfs"
            ),
            _limit,
            "the boot does not say how much memory it uses (facts mem_total_kib and mem_free_kib)",
            _has_memory_to_leave,
        ),
        proof=fact_falls("mem_total_kib", to_percent=75),
        # Some pages are left, so all of it is the most that can be gained.
        removes=Removes("structures for pages of memory", functions=("memmap_init_range",), replaced=True),
    ),
)
