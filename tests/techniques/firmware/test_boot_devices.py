"""What firmware looks at before a disk image's bootloader: to which systems it applies, and what boots must show."""

from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.firmware.boot_devices import TECHNIQUES
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.timeline import marks as m

MENU, ROM, ORDER = TECHNIQUES
MS = 1_000_000
NOTHING = Measured({}, {}, {}, "")
SILENT = Evidence({}, {}, {}, "", None)


def system(**parts: dict[str, object]) -> System:
    return System.model_validate(
        {
            "name": "image",
            "machine": {"type": "q35", **parts.get("machine", {})},
            "image": {"path": "disk.img", **parts.get("image", {})},
            "network": {"peer": "bootlab", **parts.get("network", {})},
            "booted": {"console": "login:"},
        }
    )


def boot(firmware_ms: float) -> Evidence:
    return Evidence({}, {}, {m.BOOT_SECTOR: round(firmware_ms * MS), m.LOADER_ENTRY: 9_000 * MS}, "", None)


def test_each_applies_where_it_changes_something() -> None:
    waits = system(machine={"boot_menu_s": 3})
    assert MENU.change.applies(waits, NOTHING) is None
    assert MENU.change.apply(waits, NOTHING).machine.boot_menu_s is None
    # AAVMF waits for five seconds where nobody says anything of it.
    arm64 = system(machine={"type": "virt", "firmware": "ovmf"})
    assert MENU.change.applies(arm64, NOTHING) is None
    quiet = MENU.change.apply(arm64, NOTHING)
    assert quiet.machine.boot_menu_s == 0 and "waits for no key" in str(MENU.change.applies(quiet, NOTHING))
    assert "no key" in str(MENU.change.applies(system(), NOTHING))
    assert ROM.change.applies(system(), NOTHING) is None
    without = ROM.change.apply(system(), NOTHING)
    assert without.network is not None and without.network.option_rom is False
    assert "already" in str(ROM.change.applies(without, NOTHING))
    unordered = system(image={"order": False})
    assert ORDER.change.applies(unordered, NOTHING) is None and "already" in str(
        ORDER.change.applies(system(), NOTHING)
    )
    ordered = ORDER.change.apply(unordered, NOTHING)
    assert ordered.image is not None and ordered.image.order


def test_the_menu_is_proved_by_the_seconds_that_the_firmware_waits_no_more() -> None:
    prove = MENU.proof.prove
    assert prove(boot(16), boot(3016)) is Effect.PROVEN
    assert prove(boot(16), boot(800)) is Effect.NONE
    assert prove(SILENT, boot(3016)) is Effect.NOT_SHOWN


def test_the_rom_is_proved_by_its_first_instruction_which_no_longer_runs() -> None:
    prove = ROM.proof.prove
    with_rom, without = (replace(boot(16), firmware_programs=frozenset(names)) for names in (("option-ROM",), ("Fat",)))
    assert prove(without, with_rom) is Effect.PROVEN
    assert prove(with_rom, with_rom) is Effect.NONE
    # A shorter boot is no proof, nor is one that ended before its firmware had started anything.
    assert prove(boot(16), boot(17)) is prove(SILENT, with_rom) is Effect.NOT_SHOWN


def test_the_order_is_proved_by_what_the_firmware_reads_no_more() -> None:
    prove = ORDER.proof.prove

    def reads(**bytes_read: int) -> Evidence:
        return replace(boot(16), read_bytes=bytes_read)

    # Debian 12's OVMF and image, without an order and with one; what the loader reads is not the firmware's.
    before, after = reads(SEC=0, BDS=4_409_344, loader=1), reads(SEC=0, BDS=4_350_976, loader=9)
    assert prove(after, before) is Effect.PROVEN
    assert prove(reads(firmware=512), reads(firmware=512)) is prove(before, after) is Effect.NOT_SHOWN
    assert prove(boot(15), boot(16)) is prove(reads(loader=1), reads(loader=2)) is Effect.NOT_SHOWN
    ended = replace(SILENT, read_bytes={"SEC": 0})
    assert prove(ended, before) is Effect.NOT_SHOWN


def test_none_applies_without_a_disk_image() -> None:
    given = {"name": "x", "machine": {"type": "q35"}, "kernel": {"image": "/vmlinuz"}, "booted": {"mark": "ready"}}
    plain = System.model_validate(given)
    assert all("no disk image" in str(one.change.applies(plain, NOTHING)) for one in TECHNIQUES)
