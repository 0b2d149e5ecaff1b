"""Tests that the kernel runs on itself at every boot."""

from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.model.proofs import line_appears
from bootlab.techniques.model.published import FIRECRACKER, KATA, none_published
from bootlab.techniques.model.subjects import CRYPTO_TESTS
from bootlab.techniques.model.technique import Risk, Technique, Text

TECHNIQUES = (
    Technique(
        name="cmdline_cryptomgr_notests",
        text=Text(
            summary="skips the self-tests of every cipher, hash and signature algorithm the kernel registers",
            mechanism=(
                "Each algorithm that registers is run against its test vectors, fuzzed variants included, "
                "in a thread of its own; on one CPU that thread competes with the initcalls. With the "
                "option alg_test() returns at once. Distribution kernels leave the tests on, although the "
                "option to build without them is the upstream default."
            ),
            cost=(
                "a miscompiled or broken cipher driver is not caught at boot; FIPS mode needs the tests "
                "and ignores the option"
            ),
            risk=Risk.NONE,
            published=(none_published(f"{FIRECRACKER}, docs and {KATA} pass the option; no isolated figure read"),),
        ),
        change=kernel_words("cryptomgr.notests"),
        proof=line_appears("alg: self-tests disabled"),
        removes=CRYPTO_TESTS,
    ),
)
