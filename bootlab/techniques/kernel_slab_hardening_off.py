"""Build the allocators without randomisation."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_slab_hardening_off",
    options=off(
        "SLAB_FREELIST_RANDOM",
        "SLAB_FREELIST_HARDENED",
        "SHUFFLE_PAGE_ALLOCATOR",
        "RANDOM_KMALLOC_CACHES",
        "SLAB_BUCKETS",
    ),
    summary="builds the slab and page allocators without randomised and checked free lists",
    mechanism=(
        "Each new cache draws a random sequence, each new slab is threaded in that order, free pointers "
        "are encoded, kmalloc caches exist sixteen times, and free pages are shuffled."
    ),
    cost="a heap overflow in the kernel is easier to use",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, mm/Kconfig"),),
    shows=never_runs("cache_random_seq_create"),
    watch=("cache_random_seq_create",),
    removes=Removes(
        "randomised free lists",
        functions=("cache_random_seq_create", "init_freelist_randomization", "shuffle_freelist", "__shuffle_zone"),
    ),
)
