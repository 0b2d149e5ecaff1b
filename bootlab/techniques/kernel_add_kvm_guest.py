"""Give the kernel the host's clock."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_kvm_guest",
    options={"HYPERVISOR_GUEST": "y", "PARAVIRT": "y", "KVM_GUEST": "y", "PVH": "y"},
    arch=("x86_64",),
    summary="gives the kernel the PVH entry and what a guest of KVM asks its host for",
    mechanism="Without the decompressor QEMU starts the kernel itself, and under KVM nothing is calibrated.",
    cost="call sites to patch at boot",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
