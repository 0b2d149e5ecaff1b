"""OVMF without compression: to which systems it applies, what is built, and what a boot must show."""

from bootlab.techniques.firmware.ovmf import TECHNIQUES as OVMF
from bootlab.techniques.firmware.volumes import PATCH, TECHNIQUES
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.timeline import marks as m
from tests.techniques.bootloader.test_image_loader import image_system

(VOLUMES,) = TECHNIQUES
NOTHING = Measured({}, {}, {}, "")
NEWER = image_system().with_part("machine", firmware_suite="trixie")


def boot(sec_us: int) -> Evidence:
    return Evidence({}, {}, {m.PEI_ENTRY: sec_us * 1000}, "", None)


def test_the_release_that_the_patch_is_of_is_built() -> None:
    assert "firmware_ovmf_2025" in str(VOLUMES.change.applies(image_system(), NOTHING))
    assert "not started by OVMF" in str(VOLUMES.change.applies(image_system("default"), NOTHING))
    secure = NEWER.with_part("machine", secure_boot=True)
    assert "SMM" in str(VOLUMES.change.applies(secure, NOTHING))
    assert VOLUMES.change.applies(NEWER, NOTHING) is None
    machine = VOLUMES.change.apply(NEWER, NOTHING).machine
    assert machine.firmware_build is not None and machine.firmware_suite is None
    assert (machine.firmware_build.package, machine.firmware_build.suite) == ("edk2", "trixie")
    assert machine.firmware_build.patches == (PATCH,) and PATCH.is_file()
    assert machine.firmware_build.defines == {"FD_SIZE_IN_KB": "16384"}


def test_a_build_of_ones_own_keeps_what_it_asks_for() -> None:
    own = {"package": "edk2", "suite": "trixie", "defines": {"NETWORK_ENABLE": False}}
    system = image_system().with_part("machine", firmware_build=own)
    changed = VOLUMES.change.apply(system, NOTHING)
    assert changed.machine.firmware_build is not None
    assert changed.machine.firmware_build.defines == {"NETWORK_ENABLE": "FALSE", "FD_SIZE_IN_KB": "16384"}
    assert "already" in str(VOLUMES.change.applies(changed, NOTHING))
    assert "of its own" in str(OVMF[0].change.applies(changed, NOTHING))


def test_sec_no_longer_unpacks() -> None:
    assert VOLUMES.proof.prove(boot(9_000), boot(480_000)) is Effect.PROVEN
    assert VOLUMES.proof.prove(boot(470_000), boot(480_000)) is Effect.NONE
    assert VOLUMES.proof.prove(boot(9_000), Evidence({}, {}, {}, "", None)) is Effect.NOT_SHOWN
