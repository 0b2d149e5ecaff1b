"""Build without five-level page tables."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_x86_5level_off",
    options=off("X86_5LEVEL"),
    arch=("x86_64",),
    summary="builds with four levels of page tables only",
    mechanism=(
        "The check in the decompressor and every place that must work with both depths go away; the "
        "decompressor needs no trampoline to switch between them."
    ),
    cost="more than 64 TiB of memory cannot be used",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel without it; no isolated figure"),),
)
