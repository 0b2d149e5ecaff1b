"""Tests and benchmarks that the kernel runs on itself at every boot."""

from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.proofs import line_vanishes, never_runs
from bootlab.techniques.model.published import LINUX_612, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import CRYPTO_TESTS
from bootlab.techniques.model.technique import Risk, Text

TECHNIQUES = (
    rebuilt_kernel(
        "kernel_crypto_tests_off",
        Text(
            summary="builds without the self-tests of ciphers and hashes",
            mechanism=(
                "Each algorithm that registers is run against its test vectors, and BLAKE2s, which the "
                "random generator needs from the first moment, tests itself in an initcall: 4.3 million "
                "instructions in a published microVM kernel."
            ),
            cost="a miscompiled or broken cipher driver is not caught at boot; no FIPS mode, which needs the tests",
            risk=Risk.FUNCTION,
            published=(
                none_published(
                    f"{LINUX_612}, crypto/Kconfig: the upstream default; Firecracker's configuration leaves the "
                    "tests on"
                ),
            ),
        ),
        WantedOptions(
            {"CRYPTO_MANAGER_DISABLE_TESTS": "y"},
            # The option belongs to the crypto API; without that one BLAKE2s always tests itself (lib/crypto/blake2s.c).
            gates={"CRYPTO": "y"},
        ),
        shows=never_runs("blake2s_selftest"),
        removes=CRYPTO_TESTS.also(
            "blake2s_selftest",
            "chacha20poly1305_selftest",
            "curve25519_selftest",
            "cryptomgr_test",
            what="self-tests of ciphers and hashes",
        ),
    ),
    rebuilt_kernel(
        "kernel_raid6_benchmark_off",
        Text(
            summary="takes the first RAID 6 function that works instead of timing all of them",
            mechanism="Each candidate for generating and recovering parity is run for sixteen ticks and counted.",
            cost="RAID 6 may use a function that is not the fastest",
            risk=Risk.NONE,
            published=(
                none_published(
                    "RAID: lists.ubuntu.com kernel-team 2019-January/098018 made it a boot fix; no figure in the "
                    "excerpt"
                ),
            ),
        ),
        WantedOptions(off("RAID6_PQ_BENCHMARK"), needs=("RAID6_PQ",)),
        shows=line_vanishes(r"raid6: .* gen\(\) .* MB/s"),
        removes=Removes("timing of RAID 6 functions", functions=("raid6_select_algo",)),
    ),
)
