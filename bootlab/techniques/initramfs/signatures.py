"""Signatures of modules: hashed by the processor's own instructions, which a module brings that is loaded first."""

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import SHA256_DRIVERS, option_value
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text


def _hashes_by_hand(system: System, measured: Measured) -> str | None:
    if system.machine.arch not in SHA256_DRIVERS:
        return f"for x86-64 and arm64, and this machine is {system.machine.arch}"
    if system.initramfs is None or not system.initramfs.modules:
        return "the initramfs is not a recipe with modules"
    option_of_module, module = SHA256_DRIVERS[system.machine.arch]
    if system.initramfs.modules[0].replace("-", "_") == module:
        return f"{module} is the first of its modules already"
    if module in measured.facts.get("modules", "").split():
        return f"the baseline boot loaded {module} already"
    for option, value in {"MODULE_SIG": "y", "MODULE_SIG_SHA256": "y", option_of_module: "m"}.items():
        if option_value(system, measured, option) not in (value, None):
            return f"the kernel is not built with CONFIG_{option}={value}"
    return None


def _with_it_first(system: System, measured: Measured) -> System:
    listed = system.initramfs.modules if system.initramfs is not None else ()
    module = SHA256_DRIVERS[system.machine.arch][1]
    others = tuple(name for name in listed if name.replace("-", "_") != module)
    return system.with_part("initramfs", modules=(module, *others))


def _is_there_before_the_others(after: Evidence, before: Evidence) -> Effect:
    # The crypto API takes the driver of the highest priority that is registered: its own, for what is loaded behind it.
    if "modules" not in after.facts or "modules" not in before.facts:
        return Effect.NOT_SHOWN
    # /proc/modules has the newest first (add_unformed_module(), kernel/module/main.c).
    loaded, others = (side.facts["modules"].split() for side in (after, before))
    drivers = {module for _, module in SHA256_DRIVERS.values()}
    place = next((number for number, name in enumerate(loaded) if name in drivers), 0)
    if place == 0:
        # It was not loaded, or behind all others.
        return Effect.NONE
    # What it needs itself comes before it, and was not there before: sha2_ce has sha256_arm64.
    by_hand = set(loaded[place + 1 :]) & set(others)
    return Effect.NOT_SHOWN if by_hand or drivers & set(others) else Effect.PROVEN


TECHNIQUES = (
    Technique(
        name="initramfs_sha256_first",
        text=Text(
            summary="loads the module first by which the processor hashes all others for their signatures",
            mechanism=(
                "A distribution's kernel checks the signature of each module, and hashes the whole file for that: in "
                "plain C, a hundred instructions a byte, unless a driver of the crypto API is there that knows the "
                "processor's own instructions (SHA, AVX2, AVX or SSSE3; of arm64 SHA2). Distributions build that as a "
                "module, which nothing asks for before the others are loaded."
            ),
            cost=(
                "48 KB more of an initramfs, of x86-64; a processor without any of them refuses the module, and all is "
                "as it was where /init goes on behind a module that does not load. On the virtual clock an instruction "
                "that hashes four rounds is one as any other: there it saves more than on a real processor"
            ),
            risk=Risk.NONE,
            published=(
                none_published(
                    "Linux 6.1, arch/x86/crypto/sha256_ssse3_glue.c, arch/arm64/crypto/sha2-ce-glue.c and "
                    "kernel/module/signing.c"
                ),
            ),
        ),
        change=Change(
            Layer.INITRAMFS,
            'initramfs.modules begins with "sha256_ssse3", of arm64 with "sha2_ce"',
            _with_it_first,
            _hashes_by_hand,
        ),
        proof=Proof(_is_there_before_the_others),
        removes=Removes("hashing of modules for their signatures", functions=("pkcs7_digest",), replaced=True),
    ),
)
