"""Make the large hash tables small."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.evidence import line_changes
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_hash_entries",
    words=(
        "dhash_entries=4096 ihash_entries=4096 mhash_entries=512 mphash_entries=512 "
        "thash_entries=1024 uhash_entries=256"
    ),
    summary="makes the kernel's large hash tables small",
    mechanism=(
        "The tables for dentries, inodes, mounts and sockets are sized by memory and cleared at boot; on a "
        "machine with much memory that is many megabytes touched for the first time."
    ),
    cost="long hash chains once many files or connections are open",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, "K612: Linux 6.12.117 source; less page touching on big guests; no figure read"),),
    prove=line_changes(r"Dentry cache hash table entries: (\d+)"),
    removes=Removes("large hash tables", functions=("alloc_large_system_hash",)),
)
