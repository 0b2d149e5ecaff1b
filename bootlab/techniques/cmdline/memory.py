"""How memory is laid out: hash tables sized by it, and its nodes."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import find_line, line_appears, line_changes
from bootlab.techniques.model.published import LINUX_612, OWN_CATALOGUE, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Technique, Text

_DENTRIES = 4096
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
)
