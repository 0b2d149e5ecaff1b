"""OVMF whose drivers lie in its flash chip as they are, and are copied where others are unpacked."""

from bootlab.sources import PATCHES
from bootlab.system import FirmwareBuild, System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text
from bootlab.timeline import marks as m

PATCH = PATCHES / "edk2" / "uncompressed-volumes.patch"
_DEFINES = {"FD_SIZE_IN_KB": "16384"}
_SUITE = "trixie"
"""Whose edk2 is 2025.02, of which the patch is."""


def _is_packed(system: System, measured: Measured) -> str | None:
    machine = system.machine
    if system.image is None:
        return "the system boots no disk image ([image])"
    if machine.firmware != "ovmf" or machine.arch != "x86_64":
        return "the image is not started by OVMF"
    if machine.secure_boot:
        return "machine.secure_boot needs a firmware with SMM and keys, which is not built here"
    if machine.firmware_build is not None:
        return "machine.firmware_build has the patch already" if PATCH in machine.firmware_build.patches else None
    if machine.firmware_suite != _SUITE:
        return f'the patch is of OVMF 2025.02: with firmware_ovmf_2025 (machine.firmware_suite = "{_SUITE}")'
    return None


def _unpacked(system: System, measured: Measured) -> System:
    build = system.machine.firmware_build or FirmwareBuild(package="edk2", suite=_SUITE)
    changed = build.model_copy(
        update={"patches": (*build.patches, PATCH), "defines": {**build.defines, **_DEFINES}},
    )
    return system.with_part("machine", firmware_suite=None, firmware_build=changed)


def _sec_shrinks(after: Evidence, before: Evidence) -> Effect:
    new_ns, old_ns = after.marks.get(m.PEI_ENTRY), before.marks.get(m.PEI_ENTRY)
    if new_ns is None or old_ns is None:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if new_ns * 4 < old_ns else Effect.NONE


TECHNIQUES = (
    Technique(
        name="firmware_volumes_uncompressed",
        text=Text(
            summary="starts the machine from an OVMF whose drivers are not compressed",
            mechanism=(
                "OVMF's first phase, SEC, unpacks all others at every power-on: some 14 MiB of one LZMA stream, by one "
                "CPU, before anything else runs. Flash that is emulated has room for them as they are, and copying "
                "them takes an instruction for eight bytes."
            ),
            cost=(
                "a flash chip of 16 MiB instead of 4 (QEMU's PC machines take that with max-fw-size=16M), and a build "
                "of one's own, of the upstream release without Debian's patches: who builds it keeps it up to date; "
                "the firmware's variables begin anew"
            ),
            risk=Risk.FUNCTION,
            published=(none_published("edk2's README of OVMF: FD_SIZE_IN_KB, decompression in SEC"),),
        ),
        change=Change(
            Layer.FIRMWARE,
            "machine.firmware_build: patches/edk2/uncompressed-volumes.patch, FD_SIZE_IN_KB = 16384",
            _unpacked,
            _is_packed,
        ),
        proof=Proof(_sec_shrinks),
    ),
)
