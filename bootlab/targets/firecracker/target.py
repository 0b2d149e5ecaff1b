"""Firecracker as a target: a system's kernel, initramfs and disks in a microVM of this host's KVM."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from bootlab.build.cache import file_sha256
from bootlab.errors import BootFailed, InputError
from bootlab.snapshot.asked import KeepRequest
from bootlab.snapshot.refusals import RAM, MemoryForm
from bootlab.system import BootFiles, Firecracker
from bootlab.targets.firecracker.configuration import (
    MachinePlaces,
    configuration_file,
    configuring_calls,
    metadata_call,
)
from bootlab.targets.firecracker.identity import FIRECRACKER
from bootlab.targets.firecracker.jail import ROOM, Jail, expect_jail, make_jail
from bootlab.targets.firecracker.page_server import PageServer
from bootlab.targets.firecracker.session import METRICS, FirecrackerSession
from bootlab.targets.firecracker.snapshots import PAGES, SnapshotFolder, expect_form
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.target import OpenedMachine
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.disks import drive_names
from bootlab.targets.vmm.identity import Vmm
from bootlab.targets.vmm.program import find_program
from bootlab.targets.vmm.snapshots import expect_keepable
from bootlab.targets.vmm.target import VmmPrepared, VmmTarget, write_configuration

CONFIGURATION: Final = "firecracker.json"
"""The machine as Firecracker's `--config-file` takes it, in a boot's directory."""
_LARGEST_METADATA: Final = 51_200
"""What Firecracker's API and its store take unless they are told otherwise."""
_MOST_METRICS: Final = 16 << 20
"""Bytes: Firecracker writes a row of some KiB a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirecrackerPrepared(VmmPrepared):
    """A system that is ready to boot under Firecracker. `metadata`: what MMDS is to hold; `jailer`: where that is."""

    vmm: ClassVar[Vmm] = FIRECRACKER
    target: Firecracker
    metadata: dict[str, Any] | None = None
    jailer: Path | None = None

    def tracing_vmm(self) -> Self:
        if self.jailer is not None:
            raise InputError(
                "target.jailer: its VMM cannot be traced: strace's end would not be the end of a process that changed "
                "its user",
                hint="the same system without target.jailer has its requests to KVM timed",
            )
        return super(FirecrackerPrepared, self).tracing_vmm()

    def expect_keepable(self) -> None:
        _expect_keepable(self.target)

    @property
    def memory_forms(self) -> tuple[MemoryForm, ...]:
        return (MemoryForm.FILE, MemoryForm.DIFF)

    def kept_at(self, keeping: KeepRequest) -> Self:
        self.expect_keepable()
        expect_form(keeping.form, self.target)
        return replace(self, keeping=keeping)

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        with self._ground() as (folder, jail):
            names = drive_names(self.system)
            kept = SnapshotFolder(self.system, self.keeping, self.restored, folder, jail)
            target, files = await asyncio.to_thread(self._put, kept, names)
            outside = directory.absolute()
            # It runs in the folder, where a clone's Firecracker finds its own disks by the same names.
            places = MachinePlaces(
                folder=folder,
                log=folder / "log",
                metrics=(outside if jail is None else folder) / METRICS,
                socket=self.socket_in(folder),
                configuration=(outside if jail is None else folder) / CONFIGURATION,
                disks=tuple(Path(name) for name in names),
                jail=jail,
            )
            # Firecracker opens its file of metrics, and does not make it.
            places.metrics.touch()
            calls = self._calls(target, files, places, kept)
            if self.restored is None:
                write_configuration(outside / CONFIGURATION, configuration_file(calls))
            if jail is not None:
                jail.hand_over(places.metrics)
                if places.socket is None:
                    jail.put(outside / CONFIGURATION, CONFIGURATION)
            session = FirecrackerSession(target, places, calls, directory, traced=self.traced_vmm)

            async def keep() -> None:
                await session.keep(kept.creating())
                await asyncio.to_thread(kept.keep_disks, names)

            argv += session.argv
            with self._page_server(folder) as pages:
                if jail is not None and pages is not None:
                    jail.hand_over(folder / PAGES)
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
            if jail is not None and (wrong := jail.copy_out(METRICS, directory / METRICS, _MOST_METRICS)):
                session.remarks += (wrong,)

    @contextmanager
    def _ground(self) -> Iterator[tuple[Path, Jail | None]]:
        """Give the folder that Firecracker runs in, and the jail whose root that is, if any."""
        if self.jailer is None:
            with make_socket_folder() as folder:
                yield folder, None
        else:
            with make_jail(self.target, self.binary) as jail:
                yield jail.root, jail

    def _put(self, kept: SnapshotFolder, names: list[str]) -> tuple[Firecracker, BootFiles]:
        """Put the files of one boot where it finds them; returns target and files as they are there."""
        try:
            kept.put_disks(names, self.files.disks)
        except BootFailed as error:
            if kept.jail is None:
                raise
            raise BootFailed(f"target.chroot_base: {error.message}", hint=ROOM) from error
        target, files, jail = self.target.model_copy(update=self.told), self.files, kept.jail
        if jail is None:
            return target, files
        update = {"kernel": jail.put(files.kernel, "vmlinux")}
        if files.initramfs is not None:
            update["initramfs"] = jail.put(files.initramfs, "initramfs")
        if target.mmds is not None and not target.api:
            target = target.model_copy(update={"mmds": jail.put(target.mmds, "metadata")})
        return target, files.model_copy(update=update)

    def _calls(
        self, target: Firecracker, files: BootFiles, places: MachinePlaces, kept: SnapshotFolder
    ) -> list[ApiCall]:
        if self.restored is None:
            return configuring_calls(self.system, target, files, places, self.metadata)
        # Of MMDS a snapshot has the settings, and not what it holds.
        return [kept.loading(target), *([] if target.mmds is None else [metadata_call(self.metadata)])]

    @property
    def told(self) -> dict[str, Any]:
        told = super(FirecrackerPrepared, self).told
        return told if self.jailer is None else {**told, "jailer": str(self.jailer)}

    def _page_server(self, folder: Path) -> AbstractContextManager[PageServer | None]:
        if self.restored is None or self.target.pages != "served":
            return nullcontext()
        kept = self.restored.folder.absolute()
        return PageServer(kept, kept / RAM, folder / PAGES)


class FirecrackerTarget(VmmTarget):
    """A microVM of Firecracker's."""

    vmm: ClassVar[Vmm] = FIRECRACKER

    def expect_keepable(self, target: Firecracker) -> None:
        _expect_keepable(target)

    def prepared(self, more: tuple[dict[str, Any] | None, Path | None], **found: Any) -> FirecrackerPrepared:
        metadata, jailer = more
        return FirecrackerPrepared(metadata=metadata, jailer=jailer, **found)

    def read_more(self, target: Firecracker, binary: Path, version: str) -> tuple[dict[str, Any] | None, Path | None]:
        jailer = None if target.jailer is None else expect_jail(target, binary, version)
        return _read_metadata(target.mmds), jailer

    def more_hashes(self, target: Firecracker) -> Mapping[str, str]:
        files = {"mmds": target.mmds}
        if target.jailer is not None:
            files["jailer"] = find_program(target.jailer, "target.jailer")
        return {name: file_sha256(path) for name, path in files.items() if path is not None}


def _expect_keepable(target: Firecracker) -> None:
    reasons = {
        'target.huge_pages = "2M": Firecracker maps no memory file of huge pages': target.huge_pages != "None",
    }
    expect_keepable(target, FIRECRACKER, reasons)


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
