"""Firecracker as a [target]: what its process is told besides the system, and what of a system it cannot have."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import Field

from bootlab.system.machine import MachineType
from bootlab.system.part import LINE, TEXT, matching
from bootlab.system.target.jail import Jailed
from bootlab.system.target.vmm import Lack, VmmProgram

if TYPE_CHECKING:
    from bootlab.system.value import System

_MOST_VCPUS: Final = 32
"""MAX_SUPPORTED_VCPUS (src/vmm/src/vmm_config/machine_config.rs, 1.15)."""


class Firecracker(Jailed, VmmProgram):
    """A microVM of Firecracker's on this host, by KVM. The words are Firecracker's own (docs/vmms.md)."""

    machine_type: ClassVar[MachineType] = MachineType.MICROVM
    shows_cpu: ClassVar[str] = "it shows the host's own, changed by target.cpu_template"
    of_the_card: ClassVar[tuple[str, ...]] = ("mmds",)

    kind: Literal["firecracker"]
    binary: Annotated[str, LINE] = Field(default="firecracker", min_length=1)
    """Its program: a name that PATH finds, or a path."""
    boot_timer: bool = True
    """It has the device by whose byte a guest says that it is up: the mark `boot_timer`."""
    track_dirty_pages: bool = Field(default=False, exclude_if=lambda value: not value)
    """KVM keeps account of the pages that the guest writes to: what `bootlab snapshot --memory diff` then keeps."""
    pages: Literal["mapped", "served"] = Field(default="mapped", exclude_if=lambda value: value == "mapped")
    """How a clone's memory comes: mapped from its snapshot's file, or by bootlab's page server, which brings what an
    earlier clone touched before the machine runs."""
    smt: bool = False
    cpu_template: Annotated[str, matching(r"[A-Za-z0-9]{1,32}", "is no name of a CPU template, as in T2")] | None = None
    pci: bool = False
    """The guest's devices are on a PCI bus (`--enable-pci`)."""
    mmds: Annotated[Path, TEXT] | None = None
    """A file of JSON that the guest finds on 169.254.169.254, through its network card."""
    mmds_version: Literal["V1", "V2"] = "V2"

    @property
    def sees_tap(self) -> bool:
        # What another namespace has, nobody can see here.
        return super().sees_tap and self.netns is None

    def lacks(self, system: "System") -> list[Lack]:
        """Return what Firecracker has not got and others have."""
        vcpus = system.machine.vcpus
        jailed = self.jailer is not None
        entry = system.kernel.entry.value
        return [
            (vcpus > _MOST_VCPUS, "machine.vcpus", f"it has {_MOST_VCPUS} at most"),
            (self.smt and vcpus % 2 == 1 and vcpus > 1, "machine.vcpus", "with target.smt they are one or even"),
            (entry != "pvh", "kernel.entry", 'it takes an uncompressed kernel (vmlinux): "pvh"'),
            (jailed and self.socket is not None, "target.socket", "with target.jailer it is in the jail"),
        ]
