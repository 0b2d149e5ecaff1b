"""Cloud Hypervisor as a target: a system's kernel, initramfs and disks in a machine of this host's KVM."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from bootlab.snapshot.refusals import MemoryForm
from bootlab.system import CloudHypervisor
from bootlab.targets.cloud_hypervisor.configuration import BootPlaces, machine_document
from bootlab.targets.cloud_hypervisor.identity import CLOUD_HYPERVISOR
from bootlab.targets.cloud_hypervisor.session import EVENTS, CloudHypervisorSession
from bootlab.targets.cloud_hypervisor.snapshots import CloudHypervisorSnapshot
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.target import OpenedMachine
from bootlab.targets.vmm.disks import drive_names
from bootlab.targets.vmm.identity import Vmm
from bootlab.targets.vmm.snapshots import expect_keepable
from bootlab.targets.vmm.target import VmmPrepared, VmmTarget, write_configuration

CONFIGURATION: Final = "cloud-hypervisor.json"
"""The machine as Cloud Hypervisor's `vm.create` takes it, in a boot's directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudHypervisorPrepared(VmmPrepared):
    """A system that is ready to boot under Cloud Hypervisor."""

    vmm: ClassVar[Vmm] = CLOUD_HYPERVISOR
    target: CloudHypervisor

    def expect_keepable(self) -> None:
        expect_keepable(self.target, self.vmm, {})

    @property
    def memory_forms(self) -> tuple[MemoryForm, ...]:
        return (MemoryForm.FILE,)

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        target = self.target.model_copy(update=self.told)
        with make_socket_folder() as folder:
            names = drive_names(self.system)
            kept = CloudHypervisorSnapshot(self.system, self.keeping, self.restored, folder)
            await asyncio.to_thread(kept.put_disks, names, self.files.disks)
            places = BootPlaces(folder, folder / "log", directory.absolute() / EVENTS, self.socket_in(folder))
            document = machine_document(self.system, target, self.files)
            loading = None
            if self.restored is None:
                write_configuration(directory / CONFIGURATION, document)
            else:
                kept.put_links()
                loading = kept.loading(target)
            session = CloudHypervisorSession(target, places, document, directory, loading, traced=self.traced_vmm)

            async def keep() -> None:
                await session.keep(kept.creating())
                await asyncio.to_thread(kept.take_in)
                await asyncio.to_thread(kept.keep_disks, names)

            argv += session.argv
            async with session:
                yield OpenedMachine(
                    session,
                    keep=None if self.keeping is None else keep,
                    hold=None if self.keeping is None else session.hold,
                    launch=lambda: self.launched(session),
                    pid=lambda: session.pid,
                )


class CloudHypervisorTarget(VmmTarget):
    """A machine of Cloud Hypervisor's."""

    vmm: ClassVar[Vmm] = CLOUD_HYPERVISOR

    def expect_keepable(self, target: CloudHypervisor) -> None:
        expect_keepable(target, self.vmm, {})

    def prepared(self, more: None, **found: Any) -> CloudHypervisorPrepared:
        return CloudHypervisorPrepared(**found)
