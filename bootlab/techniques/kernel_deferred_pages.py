"""Initialise most struct pages after boot."""

from bootlab.techniques.build_options import option_technique
from bootlab.techniques.evidence import any_of, line_appears, now_runs
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_deferred_pages",
    options={"DEFERRED_STRUCT_PAGE_INIT": "y"},
    gates={"SPARSEMEM_VMEMMAP": "y"},
    needs=("SMP",),
    summary="leaves the setting up of most page structures to threads that run later, in parallel",
    mechanism=(
        "Only the first part of each memory node is set up before the scheduler runs; one thread a node "
        "does the rest, so the boot waits less the more memory and CPUs there are."
    ),
    cost="threads are busy just after boot; nothing is gained on small machines",
    risk=Risk.NONE,
    sources=(
        Source("1 TB: -16 s, 64 GB: negligible", "DEF: lkml 1504.3/03018"),
        Source("-4 to -49 % of boot with several threads", "PAD: lkml 2005.3/04718"),
    ),
    shows=any_of(line_appears("deferred pages initialised"), now_runs("deferred_init_memmap")),
    watch=("deferred_init_memmap",),
)
