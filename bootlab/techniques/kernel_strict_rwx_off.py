"""Build with writable kernel text."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_strict_rwx_off",
    options=off("STRICT_KERNEL_RWX"),
    arch=("armv7",),
    summary="builds without write protection of the kernel's code and constants",
    mechanism=(
        "Sections need not be padded to the size of a page table entry, and no pass over the page tables "
        "protects them at the end of boot. On x86-64 and arm64 the protection cannot be built without; "
        "rodata=off is what there is."
    ),
    cost="code of the kernel can be overwritten",
    risk=Risk.SECURITY,
    sources=(Source("rcu_barrier on this path, a part of 14 ms (6.7.3)", VENTURA_2024),),
)
