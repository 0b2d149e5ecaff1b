"""Use the slab allocator's smallest form."""

from bootlab.techniques.build_options import BOOTLIN_2019, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_slub_tiny",
    options={"SLUB_TINY": "y"},
    gates={"EXPERT": "y"},
    summary="builds the slab allocator without per-CPU caches and debugging",
    mechanism=(
        "There is less of it to set up: no per-CPU slabs for each cache, no debugging, no files for each "
        "cache. It is what is left of the choice among SLAB, SLUB and SLOB."
    ),
    cost="one lock for each cache: allocation is slower, above all on several CPUs",
    risk=Risk.FUNCTION,
    sources=(Source("SLOB instead of SLAB: +1.43 s, -5 KB; SLUB: +2 ms, +4 KB; both choices are gone", BOOTLIN_2019),),
    shows=initcalls_gone("slab_sysfs_init", "slab_debugfs_init"),
    removes=Removes("files of the slab allocator", functions=("slab_sysfs_init", "slab_debugfs_init")),
)
