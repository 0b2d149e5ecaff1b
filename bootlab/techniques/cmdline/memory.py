"""How memory is laid out: hash tables sized by it, and its nodes."""

from bootlab.techniques.changes.command_line import kernel_words, x86_only
from bootlab.techniques.model.proofs import line_appears, line_changes
from bootlab.techniques.model.published import LINUX_612, OWN_CATALOGUE, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Technique, Text

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
            "dhash_entries=4096 ihash_entries=4096 mhash_entries=512 mphash_entries=512 "
            "thash_entries=1024 uhash_entries=256"
        ),
        proof=line_changes(r"Dentry cache hash table entries: (\d+)"),
        removes=Removes("large hash tables", functions=("alloc_large_system_hash",)),
    ),
    Technique(
        name="cmdline_numa_off",
        text=Text(
            summary="does not look for NUMA nodes",
            mechanism=(
                "The kernel otherwise parses SRAT and SLIT, or the northbridge, and falls back to a faked "
                "node when none is described."
            ),
            cost="a machine with several memory nodes is treated as one",
            risk=Risk.FUNCTION,
            published=(none_published(OWN_CATALOGUE),),
        ),
        change=kernel_words("numa=off", x86_only),
        proof=line_appears("NUMA turned off"),
        removes=Removes("the search for NUMA nodes", functions=("numa_init",)),
    ),
)
