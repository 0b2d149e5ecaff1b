"""What a guest asks of its host."""

from bootlab.techniques.changes.kernel_options import WantedOptions, rebuilt_kernel
from bootlab.techniques.model.proofs import if_shown, line_appears
from bootlab.techniques.model.published import LINUX_612, none_published
from bootlab.techniques.model.technique import Risk, Text

TECHNIQUES = (
    rebuilt_kernel(
        "kernel_kvm_guest",
        Text(
            summary="builds with what a guest of KVM asks its host for: clock, frequencies, fewer exits",
            mechanism=(
                "kvmclock says how fast the TSC runs and presets the delay loop, and the kernel neither "
                "calibrates against the PIT nor tests that the timer interrupt works. Without KVM nothing "
                "of that happens."
            ),
            cost="some hundred call sites are patched at boot; nothing gained outside KVM",
            risk=Risk.NONE,
            published=(none_published(f"{LINUX_612}, arch/x86/kernel/kvm.c and kvmclock.c"),),
        ),
        WantedOptions({"HYPERVISOR_GUEST": "y", "PARAVIRT": "y", "KVM_GUEST": "y"}, arch=("x86_64",)),
        shows=if_shown(line_appears(r"kvm-clock: Using msrs")),
    ),
)
