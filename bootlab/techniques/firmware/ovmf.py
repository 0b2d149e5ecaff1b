"""Which OVMF starts a disk image by UEFI."""

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text
from bootlab.timeline import marks as m

_SUITE = "trixie"


def _has_an_older_one(system: System, measured: Measured) -> str | None:
    if system.image is None:
        return "the system boots no disk image ([image])"
    if system.machine.firmware != "ovmf":
        return "the image is booted by BIOS"
    if system.machine.firmware_build is not None:
        return "machine.firmware_build is built of a release of its own"
    if system.machine.firmware_suite == _SUITE:
        return f"machine.firmware_suite is {_SUITE} already"
    return None


def _firmware_ns(boot: Evidence) -> int | None:
    start, end = boot.marks.get(m.PEI_ENTRY), boot.marks.get(m.DXE_ENTRY)
    return None if start is None or end is None else end - start


def _pei_shrinks(after: Evidence, before: Evidence) -> Effect:
    new_ns, old_ns = _firmware_ns(after), _firmware_ns(before)
    if new_ns is None or old_ns is None:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if new_ns * 2 < old_ns else Effect.NONE


TECHNIQUES = (
    Technique(
        name="firmware_ovmf_2025",
        text=Text(
            summary="starts the machine from the OVMF of Debian 13 (2025.02) instead of an older one",
            mechanism=(
                "OVMF 2022.11 looks for a TPM in its PEI phase, takes QEMU's empty address for one, and waits twice "
                "for 750 ms until it answers. 2025.02 does not, and unpacks its drivers in no longer time."
            ),
            cost="another version of the firmware, whose settings and boot entries start anew",
            risk=Risk.NONE,
            published=(none_published("edk2's and Debian's changelogs of OVMF"),),
        ),
        change=Change(
            Layer.FIRMWARE,
            f'machine.firmware_suite = "{_SUITE}" (Debian\'s package ovmf)',
            lambda system, measured: system.with_part("machine", firmware_suite=_SUITE),
            _has_an_older_one,
        ),
        proof=Proof(_pei_shrinks),
    ),
)
