"""Secure Boot: whether a disk image's firmware starts only what is signed."""

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_ENABLED, _DISABLED = "secureboot: Secure boot enabled", "secureboot: Secure boot disabled"


def _is_on(system: System, measured: Measured) -> str | None:
    if system.image is None:
        return "the system boots no disk image ([image])"
    return None if system.machine.secure_boot else "its firmware starts what is not signed, too (machine.secure_boot)"


def _kernel_says_so(after: Evidence, before: Evidence) -> Effect:
    if _ENABLED not in before.console:
        return Effect.NOT_SHOWN
    if _ENABLED in after.console:
        return Effect.NONE
    return Effect.PROVEN if _DISABLED in after.console else Effect.NOT_SHOWN


TECHNIQUES = (
    Technique(
        name="firmware_secure_boot_off",
        text=Text(
            summary="starts the machine from firmware without Secure Boot, which hashes nothing that it loads",
            mechanism=(
                "With Secure Boot the firmware hashes the loader and compares its signature with its keys; shim and "
                "GRUB do the same with GRUB and the kernel. OVMF keeps its variables and its keys in "
                "system management mode, and verifies each change of one."
            ),
            cost=(
                "whoever can write to the disk decides what runs before the kernel; the kernel is not locked down, and "
                "takes unsigned modules"
            ),
            risk=Risk.SECURITY,
            published=(none_published("edk2's README of OVMF, SECURE_BOOT_ENABLE and SMM_REQUIRE"),),
        ),
        change=Change(
            Layer.FIRMWARE,
            "no machine.secure_boot (OVMF_CODE_4M.fd and OVMF_VARS_4M.fd)",
            lambda system, measured: system.with_part("machine", secure_boot=False),
            _is_on,
        ),
        proof=Proof(_kernel_says_so),
    ),
)
