"""Firecracker as a [target]: what its process is told besides the system, and what of a system it cannot have."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from bootlab.system.machine import Accelerator, Attachment, ClockKind, MachineType, PageSize
from bootlab.system.part import LINE, TEXT, Part, matching

if TYPE_CHECKING:
    from bootlab.system.value import System

_MOST_VCPUS: Final = 32
"""MAX_SUPPORTED_VCPUS (src/vmm/src/vmm_config/machine_config.rs, 1.15)."""
_LONGEST_SOCKET: Final = 107
"""Bytes of a path that a Unix socket may have (unix(7))."""


class Firecracker(Part):
    """A microVM of Firecracker's on this host, by KVM. The words are Firecracker's own (docs/vmms.md)."""

    is_real: ClassVar[bool] = False
    delivers: ClassVar[bool] = False

    kind: Literal["firecracker"]
    binary: Annotated[str, LINE] = Field(default="firecracker", min_length=1)
    """Its program: a name that PATH finds, or a path."""
    api: bool = True
    """It is configured and started over its API socket; without, by `--no-api` and a configuration file."""
    socket: Annotated[str, LINE] | None = None
    """Path of the API socket, which must not be there yet; by default one in a private folder."""
    boot_timer: bool = True
    """It has the device by whose byte a guest says that it is up: the mark `boot_timer`."""
    huge_pages: Literal["None", "2M"] = "None"
    """What backs the guest's memory."""
    track_dirty_pages: bool = Field(default=False, exclude_if=lambda value: not value)
    """KVM keeps account of the pages that the guest writes to: what `bootlab snapshot --memory diff` then keeps."""
    pages: Literal["mapped", "served"] = Field(default="mapped", exclude_if=lambda value: value == "mapped")
    """How a clone's memory comes: mapped from its snapshot's file, or by bootlab's page server, which brings what an
    earlier clone touched before the machine runs."""
    smt: bool = False
    cpu_template: Annotated[str, matching(r"[A-Za-z0-9]{1,32}", "is no name of a CPU template, as in T2")] | None = None
    pci: bool = False
    """The guest's devices are on a PCI bus (`--enable-pci`)."""
    seccomp: bool = True
    """Its own filters of system calls are on."""
    tap: Annotated[str, matching(r"[!-.0-~]{1,15}", "is no name of a network device: 1 to 15 characters")] | None = None
    """The host's tap device that is the other end of the guest's network card; somebody has made it before."""
    mac: (
        Annotated[str, matching(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", "is no MAC address, as 06:00:ac:10:00:02")]
        | None
    ) = None
    mmds: Annotated[Path, TEXT] | None = None
    """A file of JSON that the guest finds on 169.254.169.254, through its network card."""
    mmds_version: Literal["V1", "V2"] = "V2"
    probe: bool = True
    """A tiny guest of QEMU's proves first that KVM runs guests here at all; else a boot may only hang."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.socket is not None and not self.api:
            raise ValueError("socket is that of the API, and api is false")
        if self.socket is not None and len(self.socket.encode()) > _LONGEST_SOCKET:
            raise ValueError(f"socket: a Unix socket's path has at most {_LONGEST_SOCKET} bytes")
        for name in ("mac", "mmds"):
            if getattr(self, name) is not None and self.tap is None:
                raise ValueError(f"{name} is of the network card: give tap, too")
        return self


def firecracker_defaults(given: dict[str, Any]) -> dict[str, Any]:
    """Return what a system file need not say of such a machine: its only type, and the only clock that it has."""
    machine, clock, kernel = (given.get(name) for name in ("machine", "clock", "kernel"))
    if machine is None or isinstance(machine, dict):
        given = {**given, "machine": {"type": MachineType.MICROVM.value, "memory_mib": 128, **(machine or {})}}
    if clock is None or isinstance(clock, dict):
        given = {**given, "clock": {"kind": ClockKind.WALL.value, **(clock or {})}}
    if isinstance(kernel, dict):
        given = {**given, "kernel": {"entry": "pvh", **kernel}}
    return given


def is_firecracker(given: Any) -> bool:
    """Return whether a [target], as a table or as its value, is Firecracker."""
    return given.get("kind") == "firecracker" if isinstance(given, dict) else isinstance(given, Firecracker)


def expect_firecracker(system: "System", target: Firecracker) -> None:
    """Raise ValueError, which names the key, for the first thing of a system that Firecracker has not got."""
    for key, why in _lacks(system, target):
        raise ValueError(f'{key}: {why}; target.kind = "firecracker"')


def _lacks(system: "System", target: Firecracker) -> list[tuple[str, str]]:
    machine, clock, kernel = system.machine, system.clock, system.kernel
    vcpus = machine.vcpus
    root, check = system.rootfs, system.check
    cases = [
        (machine.type is not MachineType.MICROVM, "machine.type", 'it has one machine, which is called "microvm"'),
        (bool(machine.options), "machine.options", "these are properties of QEMU's machines"),
        (bool(machine.devices), "machine.devices", "these are devices of QEMU's"),
        (machine.firmware != "default", "machine.firmware", "it has no firmware: it enters the kernel itself"),
        (machine.cpu not in ("max", "host"), "machine.cpu", "it shows the host's own, changed by target.cpu_template"),
        (machine.page_size is not PageSize.AUTO, "machine.page_size", "target.huge_pages says it in its own words"),
        (vcpus > _MOST_VCPUS, "machine.vcpus", f"it has {_MOST_VCPUS} at most"),
        (target.smt and vcpus % 2 == 1 and vcpus > 1, "machine.vcpus", "with target.smt they are one or even"),
        (target.huge_pages == "2M" and machine.memory_mib % 2 == 1, "machine.memory_mib", "no whole number of 2 MiB"),
        (clock.kind is not ClockKind.WALL, "clock.kind", "it runs on KVM, and has no other clock than the host's"),
        (clock.accelerator is Accelerator.TCG, "clock.accelerator", "it emulates nothing: KVM is all that it runs on"),
        (kernel.entry.value != "pvh", "kernel.entry", 'it takes an uncompressed kernel (vmlinux): "pvh"'),
        (system.image is not None, "image", "it boots no disk by itself: a kernel, and a root beside it"),
        (system.screen is not None, "screen", "it has none"),
        (bool(system.marks), "marks", 'kernel symbols are seen under clock.kind = "virtual" only'),
        (root is not None and root.device != "virtio-blk", "rootfs.device", 'its drives are "virtio-blk"'),
        (any(one.attach is not Attachment.VIRTIO for one in system.disks), "disks.attach", 'its drives are "virtio"'),
        (system.network is not None and target.tap is None, "network", "its card needs a tap device: target.tap"),
        (system.network is None and target.tap is not None, "target.tap", "without [network] the guest has no card"),
        (
            system.network is not None and system.network.peer.value != "host",
            "network.peer",
            "bootlab's own network is for a guest of QEMU's",
        ),
        (
            check is not None and check.send is not None,
            "check.send",
            "only a guest of QEMU's has its port on this host",
        ),
    ]
    return [(key, why) for wrong, key, why in cases if wrong]
