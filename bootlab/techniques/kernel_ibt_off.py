"""Build without indirect branch tracking."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_ibt_off",
    options=off("X86_KERNEL_IBT"),
    gates=off("FINEIBT"),
    arch=("x86_64",),
    summary="builds without the marks at the targets of indirect calls",
    mechanism=(
        "Marks at functions that are never called indirectly are patched out at boot, one by one, and so "
        "are the prefixes for FineIBT."
    ),
    cost="control flow inside the kernel is not checked on CPUs that could",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, arch/x86/Kconfig"),),
    removes=Removes("patching out of marks for indirect branches", functions=("apply_seal_endbr", "apply_fineibt")),
)
