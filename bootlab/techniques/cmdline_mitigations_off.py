"""Turn the mitigations of CPU vulnerabilities off."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.technique import Evidence, Proof, Risk, Source


def _more_is_vulnerable(after: Evidence, before: Evidence) -> Proof:
    # /sys/devices/system/cpu/vulnerabilities is what the kernel did, not what it was told.
    new, old = (_vulnerable(side) for side in (after, before))
    if new is None or old is None:
        return Proof.NOT_SHOWN
    return Proof.PROVEN if new > old else Proof.NO_EFFECT


def _vulnerable(evidence: Evidence) -> int | None:
    states = [value for key, value in evidence.facts.items() if key.startswith("vulnerabilities.")]
    return sum("Vulnerable" in state for state in states) if states else None


TECHNIQUE = kernel_words(
    name="cmdline_mitigations_off",
    words="mitigations=off",
    summary="turns off the mitigations of CPU vulnerabilities",
    mechanism=(
        "Page table isolation, retpolines, and clearing of buffers and branch predictors are patched into the "
        "kernel at boot and then run at every entry from user mode. Without them fewer sites are patched and "
        "each system call is shorter; a kernel that only patches retpolines out may also boot longer."
    ),
    cost="other guests and unprivileged programs can read memory through speculative execution",
    risk=Risk.SECURITY,
    sources=(
        Source(
            NONE_PUBLISHED,
            (
                'K612: Linux 6.12.117 source; DV: David Ventura, "Minimizing Linux boot times", 2024, '
                "DavidVentura/blog c798a2e used it; no isolated figure read"
            ),
        ),
    ),
    prove=_more_is_vulnerable,
)
