"""What firmware looks at before a disk image's bootloader: to which systems it applies, and what boots must show."""

import pytest

from bootlab.system import System
from bootlab.techniques.firmware.boot_devices import TECHNIQUES
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.techniques.model.technique import Technique
from bootlab.timeline import marks as m

MENU, ROM, ORDER = TECHNIQUES
MS = 1_000_000
NOTHING = Measured({}, {}, {}, "")


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


@pytest.mark.parametrize(
    ("technique", "before_ms", "effect"),
    [(MENU, 3016, Effect.PROVEN), (MENU, 800, Effect.NONE), (ROM, 17, Effect.PROVEN), (ORDER, 16, Effect.NONE)],
)
def test_the_firmware_must_take_less(technique: Technique, before_ms: int, effect: Effect) -> None:
    assert technique.proof.prove(boot(16), boot(before_ms)) is effect
    assert technique.proof.prove(Evidence({}, {}, {}, "", None), boot(before_ms)) is Effect.NOT_SHOWN


def test_none_applies_without_a_disk_image() -> None:
    given = {"name": "x", "machine": {"type": "q35"}, "kernel": {"image": "/vmlinuz"}, "booted": {"mark": "ready"}}
    plain = System.model_validate(given)
    assert all("no disk image" in str(one.change.applies(plain, NOTHING)) for one in TECHNIQUES)
