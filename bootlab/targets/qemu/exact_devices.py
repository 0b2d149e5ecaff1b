"""Which disks and network cards do their work at once on the virtual clock, and what QEMU's devices are told for it.

The plugin waits for a disk inside of the store that rings its doorbell (plugin/internals/block_io.h). That repeats
exactly for one request at a time, and for a doorbell that lies in memory: a device rung by port is not seen.

    virtio-blk-pci,drive=disk0,serial=disk0,disable-legacy=on,ioeventfd=off,num-queues=1,queue-size=4,indirect_desc=off
"""

from typing import Final

from bootlab.system import Attachment, ClockKind, Disk, DiskModel, NetworkPeer, System, cmdline_value

CONFIG_LINE: Final = "exactdisks"
"""What the plugin is told (plugin/trace_format.h)."""

# A request takes three descriptors: a ring of four holds one.
_ONE_AT_A_TIME = "num-queues=1,queue-size=4,indirect_desc=off"
_STORE = "disable-legacy=on,ioeventfd=off"
# The guest itself keeps to one command a disk, if the controller says so.
_ONE_COMMAND = "num_queues=1,cmd_per_lun=1"
_OPTIONS = {
    "virtio-blk-pci": f"{_STORE},{_ONE_AT_A_TIME}",
    "virtio-blk-device": _ONE_AT_A_TIME,
    "virtio-scsi-pci": f"{_STORE},{_ONE_COMMAND}",
    "virtio-scsi-device": _ONE_COMMAND,
    # `mqes` counts from 0: a queue of two entries, one of which stays free.
    "nvme": "max_ioqpairs=1,mqes=1",
    # Each frame is sent inside of the store, whatever is in the ring.
    "virtio-net-pci": _STORE,
    "virtio-net-device": "",
}
# Of virtio-mmio it is the slot, not the device, that leaves a doorbell to QEMU's main loop.
_SLOT = ["-global", "virtio-mmio.ioeventfd=off"]
_GLOBALS = {"virtio-blk-device": _SLOT, "virtio-scsi-device": _SLOT, "virtio-net-device": _SLOT}

_WHY_INEXACT = {
    Attachment.AHCI: "an AHCI port takes up to 32 requests at once, and their answers come in the host's order",
    Attachment.USB: "a USB controller is asked through transfer rings, and not by a store that names a disk",
}


def are_exact(system: System) -> bool:
    """Return whether disks of this system answer at once: on the virtual clock, those on virtio and NVMe."""
    root = system.rootfs is not None and system.rootfs.device != "pmem"
    root = root or system.image is not None
    disks = any(disk.attach not in _WHY_INEXACT for disk in system.disks)
    return system.clock.kind is ClockKind.VIRTUAL and (root or disks)


def is_inexact(disk: Disk) -> bool:
    """Return whether a disk is asked in a way that is not seen, and so does not answer at once."""
    return disk.attach in _WHY_INEXACT


def device_options(driver: str) -> str:
    """Return what a QEMU device must be told to take one request at a time; "" for one that cannot be."""
    return _OPTIONS.get(driver, "")


def modelled_options(model: DiskModel, driver: str) -> str:
    """Return what a virtio disk must be told whose answers the plugin gives: as many at once as the device takes.

    Events are off because then a flag in the ring alone says whether the guest wants to be interrupted.
    """
    store = f"{_STORE}," if driver.endswith("-pci") else ""
    return f"{store}num-queues=1,queue-size={model.ring},event_idx=off,packed=off,seg-max-adjust=off"


def modelled_lines(system: System) -> str:
    """Return what the plugin is told of the disks that are modelled."""
    lines = []
    for drive, model in system.modelled_disks.items():
        lines.append(f"disk {drive} {model.kind}")
        lines += [f"figure {drive} {name} {value}" for name, value in model.figures.items()]
    lines += [f"keepwrites {drive}" for drive in system.kept_disks]
    return "".join(f"{line}\n" for line in lines)


def machine_options(driver: str) -> list[str]:
    """Return the words of QEMU's command line that such a device needs besides."""
    return list(_GLOBALS.get(driver, []))


def inexact_disks(system: System) -> list[str]:
    """Return why each disk that does not answer at once on the virtual clock does not, by its key."""
    if system.clock.kind is not ClockKind.VIRTUAL:
        return []
    return [
        f'disks.{index}.attach = "{disk.attach.value}": {_WHY_INEXACT[disk.attach]}: a boot that reads it before '
        f'ready will not repeat exactly; attach = "virtio" does'
        for index, disk in enumerate(system.disks)
        if disk.attach in _WHY_INEXACT
    ]


def inexact_network(system: System) -> list[str]:
    """Return why a kernel that sets its network card up before init does not repeat exactly on the virtual clock."""
    network = system.network
    if system.clock.kind is not ClockKind.VIRTUAL or network is None or network.peer is not NetworkPeer.HOST:
        return []
    address = cmdline_value(system.kernel.cmdline, "ip")
    if address in (None, "", "off", "none"):
        return []
    return [
        f"kernel.cmdline: ip={address}: the kernel sends frames before init, and QEMU's own network answers when the "
        'host lets it: the boot will not repeat exactly; network.peer = "bootlab" answers at the same instruction'
    ]
