"""The bootloader of a disk image: to which the techniques apply, and what boots must show."""

from pathlib import Path

from bootlab.system import DiskImage, System
from bootlab.techniques.bootloader.image_loader import TECHNIQUES
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.timeline import marks as m

MENU, UKI, STUB, DIRECT = TECHNIQUES
MS = 1_000_000


def image_system(firmware: str = "ovmf", **image: object) -> System:
    return System.model_validate(
        {
            "name": "image",
            "machine": {"type": "q35", "firmware": firmware},
            "image": DiskImage.model_validate({"path": Path("disk.img"), **image}),
            "booted": {"console": "login:"},
        }
    )


def boot(loader_ms: int, *, stub: bool = False) -> Evidence:
    end = m.EFI_STUB_ENTRY if stub else m.EXIT_BOOT_SERVICES
    marks = {m.BDS_ENTRY: 100 * MS, m.LOADER_ENTRY: 500 * MS, end: (500 + loader_ms) * MS}
    return Evidence({}, {}, marks, "", None)


def measured(loader_ms: int) -> Measured:
    return Measured({}, {}, boot(loader_ms).marks, "")


def test_a_menu_that_waits_is_taken_away() -> None:
    changed = MENU.change.apply(image_system(), measured(5600))
    assert changed.image is not None and changed.image.menu_s == 0
    assert MENU.change.applies(image_system(), measured(5600)) is None
    assert "no menu waits" in str(MENU.change.applies(image_system(), measured(600)))
    assert "already" in str(MENU.change.applies(changed, measured(5600)))
    assert MENU.proof.prove(boot(600), boot(5600)) is Effect.PROVEN
    assert MENU.proof.prove(boot(5600), boot(5600)) is Effect.NONE


def test_a_uki_instead_of_a_loader() -> None:
    changed = UKI.change.apply(image_system(), measured(600))
    assert changed.image is not None and changed.image.loader == "uki"
    assert UKI.change.applies(image_system(), measured(600)) is None
    assert "booted by BIOS" in str(UKI.change.applies(image_system("default"), measured(600)))
    assert "already" in str(UKI.change.applies(changed, measured(600)))
    assert UKI.proof.prove(boot(5, stub=True), boot(600)) is Effect.PROVEN
    assert UKI.proof.prove(boot(600), boot(600)) is Effect.NONE


def test_the_kernel_itself_instead_of_a_loader() -> None:
    changed = STUB.change.apply(image_system(), measured(600))
    assert changed.image is not None and changed.image.loader == "efi-stub"
    assert STUB.change.applies(image_system(), measured(600)) is None
    assert "booted by BIOS" in str(STUB.change.applies(image_system("default"), measured(600)))
    assert "already" in str(STUB.change.applies(changed, measured(600)))
    direct = Evidence({}, {}, {m.BDS_ENTRY: 100 * MS, m.EFI_STUB_ENTRY: 500 * MS}, "", None)
    assert STUB.proof.prove(direct, boot(600)) is Effect.PROVEN
    # A UKI is entered at a stub of its own, and that is a loader.
    assert STUB.proof.prove(boot(5, stub=True), boot(600)) is STUB.proof.prove(direct, direct) is Effect.NONE
    assert STUB.proof.prove(boot(600), boot(600)) is Effect.NOT_SHOWN


def test_nothing_is_said_without_the_marks() -> None:
    silent = Evidence({}, {}, {}, "", None)
    assert MENU.proof.prove(silent, silent) is UKI.proof.prove(silent, boot(5)) is Effect.NOT_SHOWN


def test_a_kernel_that_qemu_loads_itself() -> None:
    changed = DIRECT.change.apply(image_system("default", menu_s=2), measured(600))
    assert changed.image is not None and (changed.image.loader, changed.image.menu_s) == ("direct", None)
    assert DIRECT.change.applies(image_system("default"), measured(600)) is None
    assert "already" in str(DIRECT.change.applies(changed, measured(600)))
    assert "itself already" in str(DIRECT.change.applies(image_system(path=Path("linux.efi")), measured(600)))
    started = Evidence({}, {}, {**boot(600).marks, m.START_KERNEL: 2000 * MS}, "", None)
    loaded = Evidence({}, {}, {m.BDS_ENTRY: 100 * MS, m.START_KERNEL: 900 * MS}, "", None)
    assert DIRECT.proof.prove(loaded, started) is Effect.PROVEN
    assert DIRECT.proof.prove(started, started) is Effect.NONE
    assert DIRECT.proof.prove(boot(5), started) is Effect.NOT_SHOWN
