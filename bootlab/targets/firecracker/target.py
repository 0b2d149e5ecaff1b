"""Firecracker as a target: a system's kernel, initramfs and disks in a microVM of this host's KVM."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from bootlab.build import boot_files
from bootlab.build.cache import file_sha256
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.snapshot.refusals import RAM, MemoryForm
from bootlab.system import Firecracker, System
from bootlab.targets.firecracker.configuration import MachinePlaces, configuration_file, configuring_calls, drive_names
from bootlab.targets.firecracker.page_server import PageServer
from bootlab.targets.firecracker.program import expect_host, find_firecracker, probe_version, read_cpu
from bootlab.targets.firecracker.session import METRICS, FirecrackerSession, write_configuration
from bootlab.targets.firecracker.snapshots import PAGES, SnapshotFolder, expect_form, expect_keepable
from bootlab.targets.launch import Launch
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.target import BootRequest, OpenedMachine, Prepared, sizes_of

CONFIGURATION: Final = "firecracker.json"
"""The machine as Firecracker's `--config-file` takes it, in a boot's directory."""
_ELF: Final = b"\x7fELF"
_LARGEST_METADATA: Final = 51_200
"""What Firecracker's API and its store take unless they are told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirecrackerPrepared(Prepared):
    """A system that is ready to boot under Firecracker. `kvm`: what is known of KVM here, in words."""

    target: Firecracker
    binary: Path
    version: str
    kvm: str
    metadata: dict[str, Any] | None = None
    traced_vmm: bool = False

    def tracing_vmm(self) -> Self:
        return replace(self, traced_vmm=True)

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

    @property
    def bound_here(self) -> str | None:
        return "target: Firecracker runs on this host's KVM"

    @property
    def alone(self) -> str | None:
        for key in ("socket", "tap"):
            if getattr(self.target, key) is not None:
                return f"target.{key}: each machine needs one of its own, and the system file names one"
        return None

    @property
    def tools(self) -> dict[str, str]:
        return {"firecracker": self.hashes["firecracker"]}

    def host_facts(self) -> dict[str, Any]:
        return {"qemu": None, "kvm": self.kvm, "firecracker": self.version}

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        target = self.target.model_copy(update={"binary": str(self.binary)})
        with make_socket_folder() as folder:
            socket = Path(target.socket) if target.socket is not None else folder / "api"
            names = drive_names(self.system)
            # It runs in the folder, where a clone's Firecracker finds its own disks by the same names.
            places = MachinePlaces(
                folder=folder,
                log=folder / "log",
                metrics=directory.absolute() / METRICS,
                socket=socket.absolute() if target.api else None,
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
                        launch=lambda: self._launch(session),
                        pid=lambda: session.pid,
                    )
            if pages is not None:
                session.remarks += (pages.words(),)

    def _page_server(self, folder: Path) -> AbstractContextManager[PageServer | None]:
        if self.restored is None or self.target.pages != "served":
            return nullcontext()
        kept = self.restored.folder.absolute()
        return PageServer(kept, kept / RAM, folder / PAGES)

    def _launch(self, session: FirecrackerSession) -> Launch:
        return Launch("Firecracker", self.version, session.launch(), session.own_times())


class FirecrackerTarget:
    """A microVM of Firecracker's, with the vCPUs and the memory that the system file asks for."""

    fixed_machine = None

    def prepare(self, shop: Workshop, system: System, asked: BootRequest) -> FirecrackerPrepared:
        """Make or find the files. Raises MissingTool for want of Firecracker or KVM.

        Raises InputError for a profile, and for a kernel or metadata that Firecracker does not take.
        """
        target = _target_of(system)
        if asked.profile is not None:
            raise InputError(
                "target: a profile counts instructions, and those of a guest of KVM cannot be seen",
                hint='the same system without [target], on clock.kind = "virtual", has one',
            )
        binary = find_firecracker(target)
        version = probe_version(binary)
        metadata = _read_metadata(target.mmds)
        kvm = expect_host(system, target, shop.cache)
        files = boot_files.prepare(shop, system)
        _expect_kernel(files.kernel)
        hashes = {**files.hashes, "firecracker": file_sha256(binary)}
        if target.mmds is not None:
            hashes["mmds"] = file_sha256(target.mmds)
        return FirecrackerPrepared(
            system=system,
            files=files,
            hashes=hashes,
            sizes=sizes_of(system, files),
            runs_on="kvm",
            target=target,
            binary=binary,
            version=version,
            kvm=kvm,
            metadata=metadata,
        )

    def tools(self, system: System) -> dict[str, str]:
        """Return the sha256 of Firecracker."""
        return {"firecracker": file_sha256(find_firecracker(_target_of(system)))}

    def telling(self, system: System) -> None:
        """Return None: nobody reaches its shell."""

    def lacks(self, before: System, after: System) -> str | None:
        """Return None: it can be any machine that a system file may ask for."""
        return None

    def doubts(self, system: System) -> list[str]:
        """Return nothing: it has no virtual clock."""
        return []


def _target_of(system: System) -> Firecracker:
    assert isinstance(system.target, Firecracker)
    return system.target


def _expect_kernel(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(4)
    if head != _ELF:
        raise InputError(f"kernel: {path}: is no uncompressed kernel (ELF), which is what Firecracker takes")


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
