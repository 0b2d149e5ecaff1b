"""Cloud Hypervisor as a [target]: what its process is told besides the system, and what of a system it cannot have."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from bootlab.system.machine import MachineType
from bootlab.system.part import LINE
from bootlab.system.target.vmm import Lack, VmmProgram

if TYPE_CHECKING:
    from bootlab.system.value import System


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

    def lacks(self, system: "System") -> list[Lack]:
        """Return what bootlab cannot ask Cloud Hypervisor for, and can ask others."""
        return [(system.snapshot is not None, "snapshot", "its machines are not kept by bootlab: Firecracker's are")]
