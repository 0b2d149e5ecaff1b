"""Tests that the kernel runs on itself at every boot."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import line_appears
from bootlab.techniques.model.published import FIRECRACKER, KATA, none_published
from bootlab.techniques.model.subjects import CRYPTO_TESTS
from bootlab.techniques.model.technique import Risk, Technique, Text


def _has_tests(system: System, measured: Measured) -> str | None:
    if known(system, measured) and is_on(system, measured, "CRYPTO_MANAGER_DISABLE_TESTS"):
        return "the kernel is built without the tests (CRYPTO_MANAGER_DISABLE_TESTS)"
    return None


TECHNIQUES = (
    Technique(
        name="cmdline_cryptomgr_notests",
        text=Text(
            summary="skips the self-tests of every cipher, hash and signature algorithm the kernel registers",
            mechanism=(
                "Each algorithm that registers is run against its test vectors, in several alignments and "
                "splits, in a thread of its own; on one CPU that thread competes with the initcalls, and "
                "those of built-in algorithms begin together (crypto_start_tests(), a late initcall). With "
                "the option alg_test() (crypto/testmgr.c) returns at once. Distribution kernels leave the "
                "tests on, although 6.1 and 6.12 by default are built without them "
                "(CRYPTO_MANAGER_DISABLE_TESTS)."
            ),
            cost=(
                "a miscompiled or broken cipher driver is not caught at boot, as in a kernel of the default "
                "configuration; FIPS mode needs the tests and ignores the option, so that no mode is lost"
            ),
            risk=Risk.NONE,
            published=(none_published(f"{FIRECRACKER}, docs and {KATA} pass the option; no isolated figure read"),),
        ),
        change=kernel_words("cryptomgr.notests", _has_tests),
        proof=line_appears("alg: self-tests disabled"),
        removes=CRYPTO_TESTS,
    ),
)
