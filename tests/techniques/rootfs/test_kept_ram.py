"""A root in RAM that outlives the power, as a technique: what it changes, where it does not apply, what proves it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.system import KEEPS_RAM, Machine, MachineType, PowerOnKind, System, read_system
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING, applied, why_not
from tests.techniques.conftest import EXAMPLES

NAME = "rootfs_kept_ram"
MIB = 1 << 20
STOCK = {
    "OF_PMEM": "m",
    "X86_PMEM_LEGACY": "m",
    "BLK_DEV_PMEM": "m",
    "DM_VERITY": "m",
    "OVERLAY_FS": "m",
    "CRYPTO_SHA2_ARM64_CE": "m",
    "CRYPTO_SHA256_SSSE3": "m",
}
MEASURED = replace(NOTHING, kernel_config=STOCK, sizes={"rootfs": 203 * MIB})


@pytest.fixture(scope="module")
def car() -> System:
    return read_system(EXAMPLES / "ivi.toml")


def as_pc(system: System) -> System:
    devices = system.machine.devices
    return system.model_copy(update={"machine": Machine(type=MachineType.Q35, memory_mib=512, devices=devices)})


def test_the_cars_root_is_kept_at_the_end_of_its_memory_with_its_drivers_and_room_for_what_it_writes(
    car: System,
) -> None:
    changed = applied(NAME, car, MEASURED)
    assert changed.rootfs is not None and changed.rootfs.kept_ram is not None and changed.initramfs is not None
    kept = changed.rootfs.kept_ram
    assert (kept.verify, kept.settles, kept.at_mib + kept.size_mib) == ("verity", True, 1024 + 512)
    assert kept.size - 4096 > 203 * MIB * 4128 // 4096 and kept.size_mib <= 208
    # Behind the others, so that none of those is loaded in another way than before.
    assert changed.initramfs.modules[-5:] == ("sha2_ce", "of_pmem", "nd_pmem", "dm_verity", "overlay")
    assert car.initramfs is not None and changed.initramfs.modules[:-5] == car.initramfs.modules
    assert changed.power_on is not None and changed.power_on.kind is PowerOnKind.SELF_REFRESH
    assert changed.changes_device == "/dev/vdb" and changed.disks[-1].model == changed.rootfs.model
    # What later steps add to the root has room in the image, which stays as large as the region is made for.
    assert changed.rootfs.size_mib == 203


def test_a_pc_has_its_own_drivers_and_one_that_is_built_in_is_not_loaded(car: System) -> None:
    built_in = replace(MEASURED, kernel_config={**STOCK, "OVERLAY_FS": "y", "CRYPTO_SHA256_SSSE3": "n"})
    changed = applied(NAME, as_pc(car), built_in)
    assert changed.initramfs is not None and changed.rootfs is not None and changed.rootfs.kept_ram is not None
    assert changed.initramfs.modules[-3:] == ("nd_e820", "nd_pmem", "dm_verity")
    assert "overlay" not in changed.initramfs.modules and changed.rootfs.kept_ram.at_mib == 128


@pytest.mark.parametrize(
    ("part", "keys", "said"),
    [
        ("initramfs", {"mount_root": False, "bootlab_init": True}, "initramfs.mount_root = true"),
        ("kernel", {"cmdline": "root=/dev/vda1 ro"}, "that whole disk"),
        ("kernel", {"cmdline": "root=/dev/vda ro init=/bin/sh"}, "init= on the command line"),
        ("kernel", {"cmdline": "root=/dev/vda rw"}, "read-only"),
        ("machine", {"memory_mib": 256}, "no room for the initramfs"),
        ("rootfs", {"device": "nvme", "model": None}, 'rootfs.device is "nvme"'),
        ("rootfs", {"late": ("/app",)}, "rootfs.late"),
        ("rootfs", {"init": EXAMPLES / "ivi.toml"}, "bootlab-kept settle"),
    ],
)
def test_where_it_cannot_be_it_says_why(car: System, part: str, keys: dict[str, object], said: str) -> None:
    assert said in why_not(NAME, car.with_part(part, **keys), MEASURED)


def test_a_kernel_without_the_drivers_and_an_image_of_unknown_size_are_named(car: System) -> None:
    small = {option: value for option, value in STOCK.items() if option not in ("OF_PMEM", "OVERLAY_FS")}
    why = why_not(NAME, car, replace(MEASURED, kernel_config=small))
    assert why == "the kernel is built without CONFIG_OF_PMEM, CONFIG_OVERLAY_FS"
    # Without digests of the processor's own it is longer, and works.
    no_ce = {option: value for option, value in STOCK.items() if option != "CRYPTO_SHA2_ARM64_CE"}
    assert why_not(NAME, car, replace(MEASURED, kernel_config=no_ce)) == ""
    assert "was not measured" in why_not(NAME, car, replace(MEASURED, sizes={}))


def test_a_root_in_kept_ram_waits_for_no_disk_that_could_be_read_ahead(car: System) -> None:
    kept = applied(NAME, car, MEASURED)
    for name in ("rootfs_readahead", "rootfs_layout"):
        assert why_not(name, car, MEASURED) == "" and "waits for no disk" in why_not(name, kept, MEASURED), name
    assert PowerOnKind.SELF_REFRESH in KEEPS_RAM
    # Switched on cold it reads its disk as any other.
    cold = kept.model_copy(update={"power_on": None})
    assert why_not("rootfs_readahead", cold, MEASURED) == ""


def test_its_modules_are_not_taken_for_unused_by_what_another_root_needed(car: System) -> None:
    used = replace(MEASURED, facts={"modules_used": "bochs virtio_pci virtio_blk ext4"})
    assert why_not("initramfs_pruned", car, used) == ""
    assert "another root" in why_not("initramfs_pruned", applied(NAME, car, used), used)


def test_the_record_of_the_boot_says_where_its_root_came_from(evidence: Callable[..., Evidence]) -> None:
    prove = ALL[NAME].proof.prove
    before, kept = evidence(), evidence(root_source="kept-ram")
    assert prove(kept, before) is Effect.PROVEN
    assert prove(evidence(root_source="disk", kept_ram_refused="the header is damaged"), before) is Effect.NONE
    assert prove(before, before) is Effect.NOT_SHOWN and prove(kept, kept) is Effect.NOT_SHOWN
