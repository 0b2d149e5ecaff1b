"""Roots that cannot be mounted: an initramfs not taken, a disk not driven, none named."""

from typing import Any

from tests.measure.causes.guests import SERIAL, USUAL, Case, elf, guest, without

NO_INIT = (
    "Run /sbin/init as init process\nRun /bin/sh as init process\nKernel panic - not syncing: No working init found.\n"
)


NO_ROOT = (
    '/dev/root: Can\'t open blockdev\nVFS: Cannot open root device "/dev/vda" or unknown-block(0,0): error -6\n'
    'Please append a correct "root=" boot option; here are the available partitions:\n{}'
    'List of all bdev filesystems:\n ext4\n\nKernel panic - not syncing: VFS: Unable to mount root fs on "/dev/vda"\n'
)


MMIO_DISK = ("BLOCK", "BLK_DEV", "VIRTIO_MENU", "VIRTIO_MMIO", "VIRTIO_BLK", "ACPI", "EXT4_FS")


def test_an_initramfs_that_the_kernel_did_not_take(case: Case) -> None:
    packed = b"\x1f\x8b\x08\x00" + bytes(60)
    assert "CONFIG_BLK_DEV_INITRD and CONFIG_RD_GZIP are off" in case.cause(NO_INIT, SERIAL, packed)
    said = "Initramfs unpacking failed: compression method gzip not configured\n" + NO_INIT
    assert "compressed with gzip, and CONFIG_RD_GZIP is off" in case.cause(said, without("RD_GZIP"), packed)
    assert "probably built without CONFIG_BLK_DEV_INITRD" in case.cause(NO_INIT, None, guest(elf()))
    assert "there is no /init in it" in case.cause(NO_INIT, USUAL, guest(None))
    assert "not executable" in case.cause(NO_INIT, USUAL, guest(elf(), mode=0o100644))
    said = "Initramfs unpacking failed: invalid magic at start of compressed archive\n"
    assert "is it a newc archive" in case.cause(said, USUAL, guest(elf()))
    assert "raise machine.memory_mib" in case.cause("Initramfs unpacking failed: write error\n", USUAL, guest(elf()))


def test_a_root_on_a_disk_that_is_not_driven(case: Case) -> None:
    on_disk: dict[str, Any] = {"cmdline": "console=ttyS0 root=/dev/vda", "disks": [{"size_mib": 16}]}
    known = tuple(name for name in MMIO_DISK if name != "VIRTIO_BLK")
    assert "sees no such disk: CONFIG_VIRTIO_BLK is off" in case.cause(NO_ROOT.format(""), (*USUAL, *known), **on_disk)
    known = tuple(name for name in MMIO_DISK if name != "ACPI")
    assert "CONFIG_ACPI is off" in case.cause(NO_ROOT.format(""), (*USUAL, *known), **on_disk)
    on_scsi = {"cmdline": "console=ttyS0 root=/dev/sda", "rootfs": {"path": "/r", "device": "scsi"}}
    assert "CONFIG_SCSI_VIRTIO" in case.cause(NO_ROOT.format(""), (*USUAL, *MMIO_DISK), **on_scsi)
    on_nvme = {**on_scsi, "rootfs": {"path": "/r", "device": "nvme"}, "machine": {"type": "q35"}}
    assert "CONFIG_BLK_DEV_NVME" in case.cause(NO_ROOT.format(""), (*USUAL, *MMIO_DISK), **on_nvme)
    on_pci = {**on_disk, "machine": {"type": "q35"}}
    assert "CONFIG_PCI and CONFIG_VIRTIO_PCI are off" in case.cause(NO_ROOT.format(""), (*USUAL, *MMIO_DISK), **on_pci)
    module = (*(name for name in MMIO_DISK if name != "VIRTIO_BLK"), "VIRTIO_BLK=m")
    assert "CONFIG_VIRTIO_BLK = m, and nothing loads" in case.cause(NO_ROOT.format(""), (*USUAL, *module), **on_disk)
    assert "must have CONFIG_BLOCK" in case.cause(NO_ROOT.format(""), None, **on_disk)
    listed = "fe00           16384 vda\n driver: virtio_blk\n"
    known = tuple(name for name in MMIO_DISK if name != "EXT4_FS")
    cause = case.cause(NO_ROOT.format(listed), (*USUAL, *known), **on_disk)
    assert "the disk is there, and its file system cannot be read: CONFIG_EXT4_FS is off" in cause


def test_a_root_that_nobody_named_or_gave(case: Case) -> None:
    assert "names no root" in case.cause(NO_ROOT.format(""), USUAL)
    assert "the system has no disk" in case.cause(NO_ROOT.format(""), USUAL, cmdline="root=/dev/vda")


def test_a_root_that_the_initramfs_could_not_mount(case: Case) -> None:
    why = "root=/dev/vdz: no such device after 10 s; there is: vda"
    assert case.cause(f"bootlab: no root: {why} \r\n[ 12.4] reboot: restart\n", USUAL, guest(elf())) == why
