"""Where an initramfs lies instead: on a disk, or in the kernel."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bootlab.system import Initramfs, System
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING, applied, why_not

Make = Callable[..., Evidence]


def test_an_initramfs_goes_to_a_disk_and_the_kernel_learns_to_mount_it(built: System, evidence: Make) -> None:
    system = built.model_copy(update={"initramfs": Initramfs(init=Path("init"), modules=("xor",))})
    changed = applied("initramfs_on_disk", system)
    assert changed.initramfs is None and changed.rootfs is not None and changed.kernel.build is not None
    assert changed.rootfs.modules == ("xor",)
    assert changed.kernel.cmdline == "console=ttyS0 root=/dev/vda rootfstype=ext4 rw init=/init"
    assert {"VIRTIO_MMIO", "VIRTIO_BLK", "EXT4_FS", "DEVTMPFS_MOUNT"} <= set(changed.kernel.build.options)
    stock = system.with_part("kernel", build=None, package="linux-image-cloud-amd64")
    reason = why_not("initramfs_on_disk", stock, replace(NOTHING, kernel_config={"BLOCK": "y", "VIRTIO_BLK": "m"}))
    assert "VIRTIO_BLK" in reason and "not built in" in reason
    mounted = evidence("VFS: Mounted root (ext4 filesystem) on device 254:0.")
    assert ALL["initramfs_on_disk"].proof.prove(mounted, evidence("Linux version 6.12")) is Effect.PROVEN


def test_an_embedded_initramfs_is_seen_in_the_configuration(built: System, evidence: Make) -> None:
    system = built.model_copy(update={"initramfs": Initramfs(init=Path("init"))})
    changed = applied("initramfs_embedded", system)
    assert changed.initramfs is not None and changed.initramfs.embedded
    prove = ALL["initramfs_embedded"].proof.prove
    inside, beside = (replace(evidence(), kernel_config=config) for config in ({"INITRAMFS_SOURCE": "x"}, {"A": "y"}))
    assert prove(inside, beside) is Effect.PROVEN
    assert prove(beside, beside) is Effect.NONE and prove(inside, inside) is Effect.NOT_SHOWN
    # Whatever the configuration says: a kernel that frees an archive was handed one.
    handed = replace(evidence("Freeing initrd memory: 960K"), kernel_config={"INITRAMFS_SOURCE": "x"})
    assert prove(handed, beside) is Effect.NONE
