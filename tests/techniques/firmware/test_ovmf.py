"""The newer OVMF: to which systems it applies, and what a boot must show."""

from bootlab.techniques.firmware.ovmf import TECHNIQUES
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.timeline import marks as m
from tests.techniques.bootloader.test_image_loader import image_system

(OVMF,) = TECHNIQUES
NOTHING = Measured({}, {}, {}, "")


def boot(pei_ms: int) -> Evidence:
    return Evidence({}, {}, {m.PEI_ENTRY: 480_000_000, m.DXE_ENTRY: 480_000_000 + pei_ms * 1_000_000}, "", None)


def test_it_applies_to_images_by_uefi() -> None:
    changed = OVMF.change.apply(image_system(), NOTHING)
    assert OVMF.change.applies(image_system(), NOTHING) is None and changed.machine.firmware_suite == "trixie"
    assert "already" in str(OVMF.change.applies(changed, NOTHING))
    assert "by BIOS" in str(OVMF.change.applies(image_system("default"), NOTHING))


def test_its_first_phases_are_shorter() -> None:
    assert OVMF.proof.prove(boot(1), boot(1700)) is Effect.PROVEN
    assert OVMF.proof.prove(boot(1700), boot(1700)) is Effect.NONE
    assert OVMF.proof.prove(boot(1), Evidence({}, {}, {}, "", None)) is Effect.NOT_SHOWN
