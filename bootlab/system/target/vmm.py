"""What every VMM of this host's KVM is told as a [target], and what of a system none of them can have."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from bootlab.system.machine import Accelerator, Attachment, ClockKind, MachineType, PageSize
from bootlab.system.part import LINE, Part, matching

if TYPE_CHECKING:
    from bootlab.system.value import System

_LONGEST_SOCKET: Final = 107
"""Bytes of a path that a Unix socket may have (unix(7))."""

Lack = tuple[bool, str, str]
"""Whether a system asks for what a VMM has not got, the key that does, and why not."""


class VmmProgram(Part):
    """A VMM that is a program of its own on this host, by KVM, configured over a socket (docs/vmms.md)."""

    is_real: ClassVar[bool] = False
    delivers: ClassVar[bool] = False
    machine_type: ClassVar[MachineType]
    """What its only machine is called here."""
    shows_cpu: ClassVar[str] = "it shows the host's own"
    of_the_card: ClassVar[tuple[str, ...]] = ()
    """Keys beside `mac` that mean nothing without a network card."""

    kind: str
    binary: Annotated[str, LINE] = Field(min_length=1)
    """Its program: a name that PATH finds, or a path."""
    api: bool = True
    """It is configured and started over its API socket; without, by its command line or the file that this names."""
    socket: Annotated[str, LINE] | None = None
    """Path of the API socket, which must not be there yet; by default one in a private folder."""
    huge_pages: Literal["None", "2M"] = "None"
    """What backs the guest's memory."""
    seccomp: bool = True
    """Its own filters of system calls are on."""
    tap: Annotated[str, matching(r"[!-.0-~]{1,15}", "is no name of a network device: 1 to 15 characters")] | None = None
    """The host's tap device that is the other end of the guest's network card; somebody has made it before."""
    mac: (
        Annotated[str, matching(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", "is no MAC address, as 06:00:ac:10:00:02")]
        | None
    ) = None
    probe: bool = True
    """A tiny guest of QEMU's proves first that KVM runs guests here at all; else a boot may only hang."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.socket is not None and not self.api:
            raise ValueError("socket is that of the API, and api is false")
        if self.socket is not None and len(self.socket.encode()) > _LONGEST_SOCKET:
            raise ValueError(f"socket: a Unix socket's path has at most {_LONGEST_SOCKET} bytes")
        for name in ("mac", *self.of_the_card):
            if getattr(self, name) is not None and self.tap is None:
                raise ValueError(f"{name} is of the network card: give tap, too")
        return self

    @property
    def sees_tap(self) -> bool:
        """Return whether its tap device is one of this host's own network namespace."""
        return self.tap is not None

    @classmethod
    def filled_in(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return a system file's tables with what need not be said: its only type, and the only clock that it has."""
        machine, clock, kernel = (given.get(name) for name in ("machine", "clock", "kernel"))
        if machine is None or isinstance(machine, dict):
            given = {**given, "machine": {"type": cls.machine_type.value, "memory_mib": 128, **(machine or {})}}
        if clock is None or isinstance(clock, dict):
            given = {**given, "clock": {"kind": ClockKind.WALL.value, **(clock or {})}}
        if isinstance(kernel, dict):
            given = {**given, "kernel": {"entry": "pvh", **kernel}}
        return given

    def expect_possible(self, system: "System") -> None:
        """Raise ValueError, which names the key, for the first thing of a system that this VMM has not got."""
        for wrong, key, why in [*self._lacks_as_all(system), *self.lacks(system)]:
            if wrong:
                raise ValueError(f'{key}: {why}; target.kind = "{self.kind}"')

    def lacks(self, system: "System") -> list[Lack]:
        """Return what this VMM has not got and others have."""
        return []

    def _lacks_as_all(self, system: "System") -> list[Lack]:
        machine, clock = system.machine, system.clock
        root, check, network = system.rootfs, system.check, system.network
        name = self.machine_type.value
        return [
            (machine.type is not self.machine_type, "machine.type", f'it has one machine, which is called "{name}"'),
            (bool(machine.options), "machine.options", "these are properties of QEMU's machines"),
            (bool(machine.devices), "machine.devices", "these are devices of QEMU's"),
            (machine.firmware != "default", "machine.firmware", "it has no firmware: it enters the kernel itself"),
            (machine.cpu not in ("max", "host"), "machine.cpu", self.shows_cpu),
            (
                machine.page_size is not PageSize.AUTO,
                "machine.page_size",
                "target.huge_pages says it in its own words",
            ),
            (
                self.huge_pages == "2M" and machine.memory_mib % 2 == 1,
                "machine.memory_mib",
                "no whole number of 2 MiB",
            ),
            (clock.kind is not ClockKind.WALL, "clock.kind", "it runs on KVM, and has no other clock than the host's"),
            (
                clock.accelerator is Accelerator.TCG,
                "clock.accelerator",
                "it emulates nothing: KVM is all that it runs on",
            ),
            (system.image is not None, "image", "it boots no disk by itself: a kernel, and a root beside it"),
            (system.screen is not None, "screen", "it has none"),
            (bool(system.marks), "marks", 'kernel symbols are seen under clock.kind = "virtual" only'),
            (root is not None and root.device != "virtio-blk", "rootfs.device", 'its drives are "virtio-blk"'),
            (
                any(one.attach is not Attachment.VIRTIO for one in system.disks),
                "disks.attach",
                'its drives are "virtio"',
            ),
            (network is not None and self.tap is None, "network", "its card needs a tap device: target.tap"),
            (network is None and self.tap is not None, "target.tap", "without [network] the guest has no card"),
            (
                network is not None and network.peer.value != "host",
                "network.peer",
                "bootlab's own network is for a guest of QEMU's",
            ),
            (
                check is not None and check.send is not None,
                "check.send",
                "only a guest of QEMU's has its port on this host",
            ),
        ]
