"""Firecracker as a target: a system's kernel, initramfs and disks in a microVM of this host's KVM."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from bootlab.build.cache import file_sha256
from bootlab.errors import InputError
from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.snapshot.refusals import RAM, MemoryForm
from bootlab.system import Firecracker
from bootlab.targets.firecracker.configuration import MachinePlaces, configuration_file, configuring_calls
from bootlab.targets.firecracker.host_cpu import read_cpu
from bootlab.targets.firecracker.identity import FIRECRACKER
from bootlab.targets.firecracker.page_server import PageServer
from bootlab.targets.firecracker.session import METRICS, FirecrackerSession
from bootlab.targets.firecracker.snapshots import PAGES, SnapshotFolder, expect_form, expect_keepable
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.target import OpenedMachine
from bootlab.targets.vmm.disks import drive_names
from bootlab.targets.vmm.identity import Vmm
from bootlab.targets.vmm.target import VmmPrepared, VmmTarget, write_configuration

CONFIGURATION: Final = "firecracker.json"
"""The machine as Firecracker's `--config-file` takes it, in a boot's directory."""
_LARGEST_METADATA: Final = 51_200
"""What Firecracker's API and its store take unless they are told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirecrackerPrepared(VmmPrepared):
    """A system that is ready to boot under Firecracker. `metadata`: what MMDS is to hold."""

    target: Firecracker
    metadata: dict[str, Any] | None = None

    def expect_keepable(self) -> None:
        expect_keepable(self.system, self.target)

    @property
    def memory_forms(self) -> tuple[MemoryForm, ...]:
        return (MemoryForm.FILE, MemoryForm.DIFF)

    @property
    def kept_with(self) -> dict[str, str]:
        return {"Firecracker": self.version, **read_cpu()}

    def kept_at(self, keeping: KeepRequest) -> Self:
        self.expect_keepable()
        expect_form(keeping.form, self.target)
        return replace(self, keeping=keeping)

    def from_snapshot(self, restored: Restored) -> Self:
        self.expect_keepable()
        who = {} if restored.identity is None else {"clone": restored.identity.sha256}
        return replace(self, restored=restored, hashes={**self.hashes, **who})

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        target = self.target.model_copy(update={"binary": str(self.binary)})
        with make_socket_folder() as folder:
            names = drive_names(self.system)
            # It runs in the folder, where a clone's Firecracker finds its own disks by the same names.
            places = MachinePlaces(
                folder=folder,
                log=folder / "log",
                metrics=directory.absolute() / METRICS,
                socket=self.socket_in(folder),
                configuration=directory.absolute() / CONFIGURATION,
                disks=tuple(Path(name) for name in names),
            )
            kept = SnapshotFolder(self.system, self.keeping, self.restored, folder)
            await asyncio.to_thread(kept.put_disks, names, self.files.disks)
            # Firecracker opens its file of metrics, and does not make it.
            places.metrics.touch()
            if self.restored is None:
                calls = configuring_calls(self.system, target, self.files, places, self.metadata)
                write_configuration(places.configuration, configuration_file(calls))
            else:
                calls = [kept.loading(target)]
            session = FirecrackerSession(target, places, calls, directory, traced=self.traced_vmm)

            async def keep() -> None:
                await session.keep(kept.creating())
                await asyncio.to_thread(kept.keep_disks, names)

            argv += session.argv
            with self._page_server(folder) as pages:
                async with session:
                    if pages is not None:
                        await asyncio.to_thread(pages.wait_until_ahead)
                    yield OpenedMachine(
                        session,
                        keep=None if self.keeping is None else keep,
                        hold=None if self.keeping is None else session.hold,
                        launch=lambda: self.launched(session),
                        pid=lambda: session.pid,
                    )
            if pages is not None:
                session.remarks += (pages.words(),)

    def _page_server(self, folder: Path) -> AbstractContextManager[PageServer | None]:
        if self.restored is None or self.target.pages != "served":
            return nullcontext()
        kept = self.restored.folder.absolute()
        return PageServer(kept, kept / RAM, folder / PAGES)


class FirecrackerTarget(VmmTarget):
    """A microVM of Firecracker's."""

    vmm: ClassVar[Vmm] = FIRECRACKER

    def prepared(self, more: dict[str, Any] | None, **found: Any) -> FirecrackerPrepared:
        return FirecrackerPrepared(metadata=more, **found)

    def read_more(self, target: Firecracker) -> dict[str, Any] | None:
        return _read_metadata(target.mmds)

    def more_hashes(self, target: Firecracker) -> Mapping[str, str]:
        return {} if target.mmds is None else {"mmds": file_sha256(target.mmds)}


def _read_metadata(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    data = path.read_bytes()
    if len(data) > _LARGEST_METADATA:
        raise InputError(f"target.mmds: {path}: more than the {_LARGEST_METADATA} bytes that Firecracker takes")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"target.mmds: {path}: no JSON: {error}") from error
    if not isinstance(document, dict):
        raise InputError(f"target.mmds: {path}: is no JSON object")
    return document
