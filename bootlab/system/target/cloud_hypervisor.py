"""Cloud Hypervisor as a [target]: what its process is told besides the system, and what of a system it cannot have."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from bootlab.system.machine import MachineType
from bootlab.system.part import LINE
from bootlab.system.target.vmm import VmmProgram


class CloudHypervisor(VmmProgram):
    """A machine of Cloud Hypervisor's on this host, by KVM. The words are its own (docs/vmms.md)."""

    machine_type: ClassVar[MachineType] = MachineType.Q35
    """A PC with ACPI and PCI Express: of the names that there are the nearest."""

    kind: Literal["cloud-hypervisor"]
    binary: Annotated[str, LINE] = Field(default="cloud-hypervisor", min_length=1)
    """Its program: a name that PATH finds, or a path."""
    prefault: bool = False
    """The guest's memory is there before it runs, instead of page by page as it is touched."""
    thp: bool = True
    """This host may back the guest's memory with transparent huge pages (MADV_HUGEPAGE)."""
    shared: bool = False
    """The guest's memory is a shared mapping, as devices in other processes need it."""
    memory_restore_mode: Literal["copy", "ondemand"] = Field(default="copy", exclude_if=lambda value: value == "copy")
    """How a clone's memory comes: read as a whole before it runs, or page by page as it is touched."""

    @model_validator(mode="after")
    def _restores(self) -> Self:
        if self.prefault and self.memory_restore_mode == "ondemand":
            raise ValueError("memory_restore_mode: brings pages as they are touched, and prefault has all there before")
        return self
