"""How the kernel's code is compiled: for size or speed, in which instructions, and what of it is assembly."""

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import WantedOptions, choice, is_on, rebuilt_kernel
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import never_runs
from bootlab.techniques.model.published import BOOTLIN_2019, BOOTLIN_SLIDES, LINUX_612, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

_LEVELS = ("CC_OPTIMIZE_FOR_SIZE", "CC_OPTIMIZE_FOR_PERFORMANCE")


def _in_arm_instructions(system: System, measured: Measured) -> str | None:
    # UNWINDER_FRAME_POINTER depends on !THUMB2_KERNEL (arch/arm/Kconfig.debug): it would undo that, unasked.
    if is_on(system, measured, "THUMB2_KERNEL"):
        return "the kernel is compiled for Thumb-2 (THUMB2_KERNEL), whose stacks are unwound by tables only"
    return None


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_optimize_size",
        Text(
            summary="compiles the kernel with -Os instead of -O2",
            mechanism=(
                "A smaller kernel is read and unpacked sooner and fits caches better; the code itself mostly takes "
                "more instructions, so a boot that waits for no storage may get longer."
            ),
            cost="all that the kernel does takes longer, after the boot too; programs are compiled as before",
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "-4 ms to user space, -5.7 % of kernel; SAMA5D3 (3.10): -44 ms to init, +1.815 s to login",
                    BOOTLIN_2019,
                ),
                Published("net +57 ms on BeagleBone", BOOTLIN_SLIDES),
            ),
        ),
        WantedOptions(choice("CC_OPTIMIZE_FOR_SIZE", _LEVELS)),
    ),
    rebuilt_kernel(
        "kernel_optimize_speed",
        Text(
            summary="compiles the kernel with -O2 instead of -Os",
            mechanism=(
                "Inlined and unrolled code takes fewer instructions for the same work; the image is some "
                "percent larger to read and unpack. The other way from a tiny configuration, which is "
                "compiled for size."
            ),
            cost="a kernel that is some 5 % larger",
            risk=Risk.NONE,
            published=(
                Published("-Os gave -4 ms to user space, -5.7 % of kernel: this is the way back", BOOTLIN_2019),
            ),
        ),
        WantedOptions(choice("CC_OPTIMIZE_FOR_PERFORMANCE", _LEVELS)),
    ),
    rebuilt_kernel(
        "kernel_thumb2",
        Text(
            summary="compiles a 32-bit arm kernel for the shorter Thumb-2 instructions",
            mechanism=(
                "Most instructions take two bytes instead of four, so there is less to read and to unpack. Two-byte "
                "instructions compress less well: how much is left of that in the compressed image depends on the "
                "kernel and on its compression."
            ),
            cost=(
                "more instructions are executed for the same work, in the boot and as long as the system runs: what "
                "loading gains may be less"
            ),
            risk=Risk.FUNCTION,
            published=(Published("+5 ms of total boot time, +40 KB of compressed kernel", BOOTLIN_2019),),
        ),
        WantedOptions({"THUMB2_KERNEL": "y"}, arch=("armv7",)),
    ),
    rebuilt_kernel(
        "kernel_arm_frame_pointers",
        Text(
            summary="builds a 32-bit arm kernel with frame pointers instead of unwind tables",
            mechanism=(
                "The tables by which a stack is unwound are a few percent of the image, to be read and "
                "unpacked; frame pointers cost an instruction or two a function instead."
            ),
            cost=(
                "every function takes an instruction or two more, as long as the system runs; not with Thumb-2, whose "
                "stacks only the tables unwind"
            ),
            risk=Risk.FUNCTION,
            published=(Published("-24 KB (-1.1 %) of compressed kernel, +0.8 ms to user space", BOOTLIN_2019),),
        ),
        WantedOptions(
            choice("UNWINDER_FRAME_POINTER", ("UNWINDER_FRAME_POINTER", "UNWINDER_ARM")),
            arch=("armv7",),
            applies=_in_arm_instructions,
        ),
    ),
    rebuilt_kernel(
        "kernel_blake2s_assembly",
        Text(
            summary="has the kernel's random numbers hashed by assembly instead of C",
            mechanism=(
                "Until the random generator has its first 128 bits (CRNG_EMPTY), and a board without a source of "
                "randomness may well be ready sooner, each random number that the kernel asks for is hashed out of the "
                "pool by BLAKE2s anew (extract_entropy()). 32-bit arm has an assembly version of it, off by default."
            ),
            cost="a file of assembly in the place of one in C; where the crypto API (CRYPTO) is off, that as well",
            risk=Risk.NONE,
            published=(none_published(f"{LINUX_612}, arch/arm/crypto/Kconfig: 'faster than the generic', no figure"),),
        ),
        WantedOptions({"CRYPTO_BLAKE2S_ARM": "y"}, gates={"CRYPTO": "y"}, arch=("armv7",)),
        shows=never_runs("blake2s_compress_generic"),
        removes=Removes("hashes of random numbers", functions=("blake2s_compress_generic",), replaced=True),
    ),
)
