"""Do not clear memory when it is allocated."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Removes, Risk, Source

_CLEARING = {
    ("get_page_from_freelist", "__alloc_pages_bulk", "alloc_pages_bulk_noprof", "prep_new_page", "post_alloc_hook"): (
        "clear_page", "clear_page_erms", "clear_page_rep", "clear_page_orig",
    ),
    ("kmem_cache_alloc", "kmem_cache_alloc_lru", "kmem_cache_alloc_node", "__kmem_cache_alloc_node", "__kmalloc",
     "kmem_cache_alloc_noprof", "kmem_cache_alloc_lru_noprof", "kmem_cache_alloc_node_noprof", "__kmalloc_noprof",
     "__kmalloc_cache_noprof", "slab_post_alloc_hook"): ("memset", "memset_erms", "memset_orig", "__memset"),
}  # fmt: skip
"""Allocators -> what they clear memory with. Some callers ask for cleared memory, and would go on getting it."""

TECHNIQUE = kernel_words(
    name="cmdline_init_on_alloc_off",
    words="init_on_alloc=0",
    summary="does not clear memory when the kernel allocates it",
    mechanism=(
        "Debian builds with CONFIG_INIT_ON_ALLOC_DEFAULT_ON: each page and slab object is zeroed when it is "
        "handed out, even when its user overwrites it at once. Boot allocates nearly everything there is for "
        "the first time."
    ),
    cost="data left in freed memory can leak through a kernel bug that reads uninitialised memory",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, "K612: Linux 6.12.117 source; no figure read"),),
    prove=line_appears("heap alloc:off"),
    removes=Removes(
        "clearing of memory that is handed out",
        functions=tuple(
            f"{caller}/{function}"
            for callers, functions in _CLEARING.items()
            for caller in callers
            for function in functions
        ),
    ),
)
