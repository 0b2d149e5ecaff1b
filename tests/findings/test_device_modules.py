"""What devices a boot found, which modules are for them, and which ones of an image nobody asked for."""

from pathlib import Path

from bootlab.build.modules.aliases import ModuleAliases
from bootlab.build.modules.package import ModuleTree
from bootlab.findings.device_modules import Device, DeviceModules, devices_text, find_modules, read_devices
from tests.build.conftest import make_package

DISK = Device("pci0000:00/0000:00:03.0/virtio0", "virtio:d00000002v00001AF4", "virtio_blk", "virtio_blk")
DICE = Device("pci0000:00/0000:00:04.0/virtio1", "virtio:d00000004v00001AF4", None, None)
KEYS = Device("platform/i8042/serio0", "serio:ty06pr00id00ex00", "atkbd", None)
ALIASES = ModuleAliases(
    [
        ("virtio:d00000002v*", "virtio_blk"),
        ("virtio:d00000004v*", "virtio_rng"),
        ("serio:ty06pr*", "ext4"),
    ]
)


def found(folder: Path, *devices: Device, never: tuple[str, ...] = (), image: tuple[str, ...] = ()) -> DeviceModules:
    """Look for the modules in a package whose virtio_blk needs virtio and virtio_ring, and virtio_rng needs virtio."""
    return find_modules(devices, ModuleTree(make_package(folder)), ALIASES, never, image)


def test_a_guests_facts_tell_its_devices_by_path() -> None:
    facts = {
        "device.1": "platform/i8042/serio0 atkbd - serio:ty06pr00id00ex00",
        "lsm": "capability one two three",
        "device.0": f"{DISK.path} virtio_blk virtio_blk {DISK.modalias}",
        "device.2": f"{DICE.path} - - {DICE.modalias}",
    }
    assert read_devices(facts) == [DISK, DICE, KEYS]


def test_a_modalias_may_have_blanks_and_a_fact_that_was_cut_off_is_no_device() -> None:
    facts = {"device.0": "virtual/dmi/id - - dmi:bvnSeaBIOS:svnQEMU:pnStandard PC (Q35)", "device.1": "virtual/x - -"}
    assert [device.modalias for device in read_devices(facts)] == ["dmi:bvnSeaBIOS:svnQEMU:pnStandard PC (Q35)"]


def test_modules_are_wanted_with_all_that_they_need_in_load_order(tmp_path: Path) -> None:
    """The keyboard's driver is built in, and so no module of it is wanted."""
    modules = found(tmp_path, KEYS, DISK, DICE)
    assert modules.wanted == ("virtio_ring", "virtio", "virtio_blk", "virtio_rng")


def test_at_work_is_what_holds_a_driver_whatever_is_wanted(tmp_path: Path) -> None:
    """A module that was loaded by hand works for a device that asks for another one."""
    by_hand = Device(KEYS.path, KEYS.modalias, "other", "xor")
    assert found(tmp_path, DISK, DICE, by_hand).at_work == ("virtio_blk", "xor")


def test_idle_is_what_the_image_holds_and_nobody_asks_for_uses_or_needs(tmp_path: Path) -> None:
    image = ("xor", "virtio_ring", "virtio", "virtio_blk", "btrfs", "crc32c")
    at_work = Device(KEYS.path, KEYS.modalias, "other", "crc32c")
    modules = found(tmp_path, DISK, at_work, image=image)
    assert modules.idle == ("btrfs", "xor"), "neither what virtio_blk needs nor what has a device"


def test_what_must_never_be_loaded_is_not_wanted_nor_what_needs_it(tmp_path: Path) -> None:
    modules = found(tmp_path, DISK, DICE, never=("virtio_blk",), image=("virtio_blk", "virtio"))
    assert modules.wanted == ("virtio_ring", "virtio", "virtio_rng")
    assert modules.idle == (), "it is at work all the same"
    assert found(tmp_path / "other", DICE, never=("virtio",)).wanted == ()


def test_the_list_for_a_system_file_has_each_modalias_once() -> None:
    second = Device("pci0000:00/0000:00:05.0/virtio2", DISK.modalias, "virtio_blk", "virtio_blk")
    other = Device("pci0000:00/0000:00:06.0/virtio3", DISK.modalias, "vfio", None)
    assert devices_text([DISK, DICE, second, other], "demo") == (
        "# Devices of demo: a modalias a line, for coldplug.devices of its system file.\n"
        "virtio:d00000002v00001AF4  # pci0000:00/0000:00:03.0/virtio0 and 2 more: vfio, virtio_blk\n"
        "virtio:d00000004v00001AF4  # pci0000:00/0000:00:04.0/virtio1: no driver\n"
    )
