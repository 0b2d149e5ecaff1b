"""Do not clear memory when it is allocated."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Risk, Source

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
)
