"""Build a kernel that cannot be moved."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_relocatable_off",
    options=off("RELOCATABLE"),
    gates=off("RANDOMIZE_BASE", "EFI_STUB", "EFI"),
    arch=("x86_64",),
    summary="builds a kernel that runs at one address only, without a table of relocations",
    mechanism=("The image carries no list of the places to be corrected, and the decompressor does not go through it."),
    cost="no KASLR, no EFI stub, no kernel for crash dumps",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel without it; moot for a kernel booted through PVH"),),
    removes=Removes("randomised memory regions", functions=("kernel_randomize_memory",), shortens=("[decompressor]",)),
)
