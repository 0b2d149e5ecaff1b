"""Do not start the jitter random number generator."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, ran
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_jitterentropy",
    words="initcall_blacklist=jent_mod_init",
    summary="does not start the kernel's CPU-jitter random number generator",
    mechanism=(
        "jent_mod_init() measures the CPU's timing jitter over and over, hashes each measurement with SHA-3, "
        "and runs the health tests of SP 800-90B on it. The generator is a second seed of the crypto API's "
        "DRBG, which goes on with the kernel's own generator."
    ),
    cost="the crypto API's DRBG has one source of entropy instead of two; not for FIPS mode",
    risk=Risk.SECURITY,
    sources=(
        Source(
            NONE_PUBLISHED,
            (
                "K612: Linux 6.12.117 source, crypto/jitterentropy-kcapi.c; found in the initcall table of a measured "
                "boot"
            ),
        ),
    ),
    prove=never_runs("jent_mod_init"),
    applies=ran("jent_mod_init"),
    watch=("jent_mod_init",),
    removes=Removes("the jitter random number generator", functions=("jent_mod_init",)),
)
