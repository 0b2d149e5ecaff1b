"""Let the CPU and the bootloader seed the random number generator."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.evidence import kernel_log
from bootlab.techniques.technique import Evidence, Proof, Risk, Source


def _crng_is_ready_sooner(after: Evidence, before: Evidence) -> Proof:
    # No stamp is compared: the message moves up in the order of the log when the seed comes from CPU or bootloader.
    new, old = (_place(side) for side in (after, before))
    if new is None:
        return Proof.NOT_SHOWN
    if old is None:
        return Proof.PROVEN
    return Proof.PROVEN if new < old else Proof.NOT_SHOWN


def _place(evidence: Evidence) -> int | None:
    log = kernel_log(evidence.facts, evidence.console)
    return next((number for number, line in enumerate(log) if "crng init done" in line), None)


TECHNIQUE = kernel_words(
    name="cmdline_random_trust",
    words="random.trust_cpu=on random.trust_bootloader=on",
    summary="lets the CPU's and the bootloader's random numbers count as entropy at once",
    mechanism=(
        "Without trust the generator waits for timing jitter and interrupts before getrandom() returns, which "
        "stalls early user space. Where the kernel trusts both by default nothing changes."
    ),
    cost="a backdoored CPU generator would be believed",
    risk=Risk.SECURITY,
    sources=(
        Source(
            "-2.3 s for a guest on -cpu qemu64 when virtio-rng is present (crng done at 4.7 s without it)",
            "KMS: schlarpc/kmsrsos issue 339",
        ),
        Source(NONE_PUBLISHED, "K612: Linux 6.12.117 source, drivers/char/random.c:811: on by default"),
    ),
    prove=_crng_is_ready_sooner,
)
