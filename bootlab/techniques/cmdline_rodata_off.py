"""Leave kernel memory writable."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_rodata_off",
    words="rodata=off",
    summary="leaves the kernel's code and constants writable",
    mechanism=(
        "mark_rodata_ro() splits the large pages of the kernel image at section boundaries, changes their "
        "protection, flushes the TLBs, frees the gaps and then checks for writable executable pages."
    ),
    cost="W^X is gone: a kernel bug that writes to code or constants succeeds",
    risk=Risk.SECURITY,
    sources=(
        Source(
            "rcu_barrier on the mark_rodata_ro path, part of 14 ms (Linux 6.7.3)",
            'DV: David Ventura, "Minimizing Linux boot times", 2024, DavidVentura/blog c798a2e',
        ),
        Source(NONE_PUBLISHED, "K612: Linux 6.12.117 source, init/main.c: mark_readonly() has no direct rcu_barrier"),
    ),
    prove=line_appears("Kernel memory protection disabled"),
    removes=Removes(
        "write protection of the kernel and the check of it",
        functions=("mark_rodata_ro", "ptdump_check_wx", "ptdump_walk_pgd_level_checkwx", "ptdump_walk_pgd_level_core"),
    ),
)
