"""Build without self-tests of ciphers."""

from bootlab.techniques.build_options import LINUX_612, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_crypto_tests_off",
    options={"CRYPTO_MANAGER_DISABLE_TESTS": "y"},
    # The option belongs to the crypto API; without that one BLAKE2s always tests itself (lib/crypto/blake2s.c).
    gates={"CRYPTO": "y"},
    summary="builds without the self-tests of ciphers and hashes",
    mechanism=(
        "Each algorithm that registers is run against its test vectors, and BLAKE2s, which the random "
        "generator needs from the first moment, tests itself in an initcall: 4.3 of 61 million "
        "instructions in a published microVM kernel."
    ),
    cost="a miscompiled or broken cipher driver is not caught at boot; FIPS mode needs the tests",
    risk=Risk.NONE,
    sources=(
        Source(
            NONE_PUBLISHED,
            f"{LINUX_612}, crypto/Kconfig: the upstream default; Firecracker's configuration leaves the tests on",
        ),
    ),
    shows=never_runs("blake2s_selftest"),
    watch=("blake2s_selftest",),
    removes=Removes(
        "self-tests of ciphers and hashes",
        functions=(
            "alg_test",
            "blake2s_selftest",
            "chacha20poly1305_selftest",
            "curve25519_selftest",
            "cryptomgr_test",
        ),
    ),
)
