"""Firecracker as a target: a system's kernel, initramfs and disks in a microVM of this host's KVM."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from bootlab.build import boot_files
from bootlab.build.cache import file_sha256
from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed, InputError
from bootlab.process import ProgramFailed, run
from bootlab.system import BootFiles, Firecracker, System
from bootlab.targets.firecracker.configuration import MachinePlaces, configuration_file, configuring_calls, drive_names
from bootlab.targets.firecracker.program import expect_host, find_firecracker, probe_version
from bootlab.targets.firecracker.session import METRICS, FirecrackerSession, write_configuration
from bootlab.targets.launch import Launch
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.target import BootRequest, OpenedMachine, Prepared, sizes_of

CONFIGURATION: Final = "firecracker.json"
"""The machine as Firecracker's `--config-file` takes it, in a boot's directory."""
_COPY_S: Final = 600
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
            places = MachinePlaces(
                log=folder / "log",
                metrics=directory / METRICS,
                socket=socket if target.api else None,
                configuration=directory / CONFIGURATION,
                disks=await asyncio.to_thread(_copies, self.system, self.files, folder),
            )
            # Firecracker opens its file of metrics, and does not make it.
            places.metrics.touch()
            calls = configuring_calls(self.system, target, self.files, places, self.metadata)
            write_configuration(places.configuration, configuration_file(calls))
            session = FirecrackerSession(target, places, calls, directory, traced=self.traced_vmm)
            argv += session.argv
            async with session:
                yield OpenedMachine(session, launch=lambda: self._launch(session), pid=lambda: session.pid)

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


def _copies(system: System, files: BootFiles, folder: Path) -> tuple[Path, ...]:
    """Copy each disk into `folder`, where the guest may write to it. Raises BootFailed: a full disk, say."""
    copies = []
    for name, path in zip(drive_names(system), files.disks, strict=True):
        copy = folder / name
        try:
            run(["cp", "--reflink=auto", "--sparse=always", "--", path, copy], deadline_s=_COPY_S)
        except ProgramFailed as error:
            raise BootFailed(
                f"{name}: cannot be copied for the guest to write to: {error.message}",
                hint="its copy is in $TMPDIR, or else in /tmp, while the machine lives",
            ) from error
        copy.chmod(0o600)
        copies.append(copy)
    return tuple(copies)
