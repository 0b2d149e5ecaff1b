"""What VMMs of this host's KVM promise alike as targets: what they refuse, what decides a boot, where it runs."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from bootlab.build import boot_files
from bootlab.build.cache import file_sha256
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.snapshot.asked import Restored
from bootlab.system import KernelEntry, System, VmmProgram
from bootlab.targets.launch import Launch
from bootlab.targets.sizes import sizes_of
from bootlab.targets.target import BootRequest, Prepared
from bootlab.targets.vmm.host_cpu import read_cpu
from bootlab.targets.vmm.identity import Vmm
from bootlab.targets.vmm.program import (
    NUMBER,
    expect_host,
    expect_place,
    expect_tap,
    find_program,
    probe_version,
    tap_of,
)
from bootlab.targets.vmm.session import VmmSession

_ELF: Final = b"\x7fELF"


@dataclass(frozen=True, slots=True, kw_only=True)
class VmmPrepared(Prepared):
    """A system that is ready to boot under a VMM. `kvm`: what is known of KVM here, in words.

    `number`: which machine it is of those that are there at a time, from 1.
    """

    vmm: ClassVar[Vmm]
    target: VmmProgram
    binary: Path
    version: str
    kvm: str
    traced_vmm: bool = False
    number: int = 1

    def tracing_vmm(self) -> Self:
        return replace(self, traced_vmm=True)

    @property
    def bound_here(self) -> str | None:
        return f"target: {self.target.kind} runs on this host's KVM"

    @property
    def kept_with(self) -> dict[str, str]:
        return {self.vmm.name: self.version, **read_cpu()}

    def from_snapshot(self, restored: Restored) -> Self:
        self.expect_keepable()
        who = {} if restored.identity is None else {"clone": restored.identity.sha256}
        return replace(self, restored=restored, hashes={**self.hashes, **who})

    @property
    def alone(self) -> str | None:
        named = {key: getattr(self.target, key, None) for key in ("socket", "tap", "mac", "jail_id")}
        if NUMBER in (named["tap"] or ""):
            del named["tap"]
        for key, value in named.items():
            if value is not None:
                words = f'; target.tap = "tap{NUMBER}" names one for each: tap1, tap2, ...' if key == "tap" else ""
                return f"target.{key}: each machine needs one of its own, and the system file names one{words}"
        return None

    def numbered(self, number: int) -> Self:
        mine = replace(self, number=number)
        if NUMBER in (self.target.tap or ""):
            expect_tap(self.target, number)
        return mine

    @property
    def told(self) -> dict[str, Any]:
        """Return what of `target` is known by now, by key: where its program is, and which tap is this machine's."""
        return {"binary": str(self.binary), "tap": tap_of(self.target, self.number)}

    @property
    def tools(self) -> dict[str, str]:
        return {self.target.kind: self.hashes[self.target.kind]}

    def host_facts(self) -> dict[str, Any]:
        return {"qemu": None, "kvm": self.kvm, self.target.kind: self.version}

    def launched(self, session: VmmSession) -> Launch:
        """Return what came before the power-on of a machine that has ended."""
        return Launch(session.vmm.name, self.version, session.launch(), session.own_times())

    def socket_in(self, folder: Path) -> Path | None:
        """Return where the API's socket is to be, `folder` being the boot's; None where there is no API."""
        if not self.target.api:
            return None
        return (Path(self.target.socket) if self.target.socket is not None else folder / "api").absolute()


class VmmTarget(ABC):
    """A VMM's machine, with the vCPUs and the memory that the system file asks for."""

    fixed_machine = None
    vmm: ClassVar[Vmm]

    def prepare(self, shop: Workshop, system: System, asked: BootRequest) -> VmmPrepared:
        """Make or find the files. Raises MissingTool for want of the VMM or KVM.

        Raises InputError for a profile, and for what the VMM does not take.
        """
        target = _target_of(system)
        if asked.profile is not None:
            raise InputError(
                "target: a profile counts instructions, and those of a guest of KVM cannot be seen",
                hint='the same system without [target], on clock.kind = "virtual", has one',
            )
        if asked.keeps:
            self.expect_keepable(target)
        binary = find_program(target.binary)
        version = probe_version(binary, self.vmm)
        more = self.read_more(target, binary, version)
        expect_place(target.socket)
        expect_tap(target, 1)
        kvm = expect_host(system, target, self.vmm, shop.cache)
        files = boot_files.prepare(shop, system)
        if system.kernel.entry is KernelEntry.PVH:
            _expect_vmlinux(files.kernel, self.vmm.name)
        return self.prepared(
            more,
            system=system,
            files=files,
            hashes={**files.hashes, target.kind: file_sha256(binary), **self.more_hashes(target)},
            sizes=sizes_of(system, files),
            runs_on="kvm",
            target=target,
            binary=binary,
            version=version,
            kvm=kvm,
        )

    @abstractmethod
    def prepared(self, more: Any, **found: Any) -> VmmPrepared:
        """Return what was found as this VMM's own; `more`: what `read_more` read."""

    @abstractmethod
    def expect_keepable(self, target: Any) -> None:
        """Raise InputError that names every key for a machine that this VMM cannot keep in a snapshot."""

    def read_more(self, target: Any, binary: Path, version: str) -> Any:
        """Return what is read or found before a boot beside a system's files. Raises InputError, MissingTool."""
        return None

    def more_hashes(self, target: Any) -> Mapping[str, str]:
        """Return the sha256 of what decides the boot beside a system's files and the VMM."""
        return {}

    def tools(self, system: System) -> dict[str, str]:
        """Return the sha256 of the VMM."""
        target = _target_of(system)
        return {target.kind: file_sha256(find_program(target.binary))}

    def telling(self, system: System) -> None:
        """Return None: nobody reaches its shell."""
        return None

    def lacks(self, before: System, after: System) -> str | None:
        """Return None: it can be any machine that a system file may ask for."""
        return None

    def doubts(self, system: System) -> list[str]:
        """Return nothing: it has no virtual clock."""
        return []


def write_configuration(path: Path, document: dict[str, Any]) -> None:
    """Write a machine as its VMM takes it."""
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _target_of(system: System) -> VmmProgram:
    assert isinstance(system.target, VmmProgram)
    return system.target


def _expect_vmlinux(path: Path, vmm: str) -> None:
    with path.open("rb") as file:
        head = file.read(4)
    if head != _ELF:
        raise InputError(f"kernel: {path}: is no uncompressed kernel (ELF), which is what {vmm} takes")
