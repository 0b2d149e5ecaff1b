"""Cloud Hypervisor as a target: a system's kernel, initramfs and disks in a machine of this host's KVM."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from bootlab.system import CloudHypervisor
from bootlab.targets.cloud_hypervisor.configuration import BootPlaces, machine_document
from bootlab.targets.cloud_hypervisor.identity import CLOUD_HYPERVISOR
from bootlab.targets.cloud_hypervisor.session import EVENTS, CloudHypervisorSession
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.target import OpenedMachine
from bootlab.targets.vmm.disks import copy_disk, drive_names
from bootlab.targets.vmm.identity import Vmm
from bootlab.targets.vmm.target import VmmPrepared, VmmTarget, write_configuration

CONFIGURATION: Final = "cloud-hypervisor.json"
"""The machine as Cloud Hypervisor's `vm.create` takes it, in a boot's directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudHypervisorPrepared(VmmPrepared):
    """A system that is ready to boot under Cloud Hypervisor."""

    vmm: ClassVar[Vmm] = CLOUD_HYPERVISOR
    target: CloudHypervisor

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        target = self.target.model_copy(update=self.told)
        with make_socket_folder() as folder:
            for name, disk in zip(drive_names(self.system), self.files.disks, strict=True):
                await asyncio.to_thread(copy_disk, name, disk, folder / name)
            places = BootPlaces(folder, folder / "log", directory.absolute() / EVENTS, self.socket_in(folder))
            document = machine_document(self.system, target, self.files)
            write_configuration(directory / CONFIGURATION, document)
            session = CloudHypervisorSession(target, places, document, directory, traced=self.traced_vmm)
            argv += session.argv
            async with session:
                yield OpenedMachine(session, launch=lambda: self.launched(session), pid=lambda: session.pid)


class CloudHypervisorTarget(VmmTarget):
    """A machine of Cloud Hypervisor's."""

    vmm: ClassVar[Vmm] = CLOUD_HYPERVISOR

    def prepared(self, more: None, **found: Any) -> CloudHypervisorPrepared:
        return CloudHypervisorPrepared(**found)
