"""Build without debug information."""

from bootlab.techniques.build_options import BOOTLIN_2019, choice, off, option_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_debug_info_off",
    options=choice(
        "DEBUG_INFO_NONE",
        ("DEBUG_INFO_NONE", "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT", "DEBUG_INFO_DWARF4", "DEBUG_INFO_DWARF5"),
    ),
    gates=off("DEBUG_INFO_BTF"),
    summary="builds without debug information and the type information made of it",
    mechanism=(
        "The type information of BPF lies in the loaded image and is checked at boot; the rest of the "
        "debug information only makes the file and the build larger."
    ),
    cost="no source lines in debuggers, and no BPF programs that need type information",
    risk=Risk.FUNCTION,
    sources=(
        Source("-6 ms to user space, -38 KB (-1.7 %) of compressed kernel, with all compile-time checks", BOOTLIN_2019),
    ),
)
