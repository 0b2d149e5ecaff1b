"""Skip the self-tests of the kernel's cryptography."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_cryptomgr_notests",
    words="cryptomgr.notests",
    summary="skips the self-tests of every cipher, hash and signature algorithm the kernel registers",
    mechanism=(
        "Each algorithm that registers is run against its test vectors, fuzzed variants included, in a thread "
        "of its own; on one CPU that thread competes with the initcalls. With the option alg_test() returns "
        "at once. Distribution kernels leave the tests on, although the option to build without them is the "
        "upstream default."
    ),
    cost=(
        "a miscompiled or broken cipher driver is not caught at boot; FIPS mode needs the tests and ignores the option"
    ),
    risk=Risk.NONE,
    sources=(
        Source(
            NONE_PUBLISHED,
            (
                "FC: firecracker-microvm/firecracker 81b38b9, docs and KATA: kata-containers 01e56a7, qemu_amd64.go "
                "pass the option; no isolated figure read"
            ),
        ),
    ),
    prove=line_appears("alg: self-tests disabled"),
    removes=Removes("self-tests of the crypto API", functions=("alg_test",)),
)
