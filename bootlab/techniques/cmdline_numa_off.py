"""Do not look for NUMA nodes."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, x86_only
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_numa_off",
    words="numa=off",
    summary="does not look for NUMA nodes",
    mechanism=(
        "The kernel otherwise parses SRAT and SLIT, or the northbridge, and falls back to a faked node when "
        "none is described."
    ),
    cost="a machine with several memory nodes is treated as one",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, "techniques catalogue of this project, no published figure found"),),
    prove=line_appears("NUMA turned off"),
    applies=x86_only,
    removes=Removes("the search for NUMA nodes", functions=("numa_init",)),
)
