"""A kernel on the way of a tailoring, and what its profiled boot says of it, read when asked for."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bootlab.build.kernel.build import BuiltKernel
from bootlab.build.kernel.calls import NamedCalls
from bootlab.build.kernel.objects import KernelObjects, read_objects
from bootlab.experiments.tailor.code_cost import CodeCosts
from bootlab.experiments.tailor.kernel_use import KernelUse, find_use
from bootlab.experiments.tailor.unused_options import Drop
from bootlab.findings.analysis import read_recorded
from bootlab.measure.record import BootRecord
from bootlab.profile.recorded.profile import Profile
from bootlab.system import System


class Look:
    """A profiled boot, with the parts of the kernel that it used and their cost, read when asked for."""

    def __init__(self, kernel: BuiltKernel, objects: Path, record: BootRecord, directory: Path) -> None:
        self._kernel = kernel
        self._objects = objects
        self._directory = directory
        self.record = record

    @cached_property
    def use(self) -> KernelUse:
        return find_use(self._profile, self._addresses, self._parts)

    @cached_property
    def costs(self) -> CodeCosts:
        named_calls = NamedCalls(self._kernel.vmlinux, self._addresses)
        return CodeCosts(self._profile, self._addresses, self._parts, named_calls)

    @cached_property
    def _recorded(self) -> tuple[Profile, list[tuple[int, str, str]]]:
        return read_recorded(self.record, self._directory)

    @property
    def _profile(self) -> Profile:
        return self._recorded[0]

    @cached_property
    def _addresses(self) -> list[int]:
        return [address for address, _, _ in self._recorded[1]]

    @cached_property
    def _parts(self) -> KernelObjects:
        return read_objects(self._objects)


@dataclass(frozen=True)
class KernelState:
    """A kernel that does its job, and what its record used of it."""

    drops: tuple[Drop, ...]
    system: System
    kernel: BuiltKernel
    look: Look
    ready_ns: int

    @property
    def key(self) -> tuple[str, str]:
        """Return what decides all that can be found in it: its kernel in the cache, and its record."""
        return self.kernel.vmlinux.parent.name, self.look.record.key

    @property
    def config(self) -> str:
        """Return the text of its configuration."""
        return self.kernel.config.read_text(encoding="utf-8")
