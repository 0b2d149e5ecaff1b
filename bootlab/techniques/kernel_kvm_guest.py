"""Build for guests of KVM."""

from bootlab.techniques.build_options import LINUX_612, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_kvm_guest",
    options={"HYPERVISOR_GUEST": "y", "PARAVIRT": "y", "KVM_GUEST": "y"},
    arch=("x86_64",),
    summary="builds with what a guest of KVM asks its host for: clock, frequencies, fewer exits",
    mechanism=(
        "kvmclock says how fast the TSC runs and presets the delay loop, and the kernel neither "
        "calibrates against the PIT nor tests that the timer interrupt works. Without KVM nothing of "
        "that happens."
    ),
    cost="some hundred call sites are patched at boot; nothing gained outside KVM",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, arch/x86/kernel/kvm.c and kvmclock.c"),),
)
