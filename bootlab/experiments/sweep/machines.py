"""The machines of a sweep: every combination of the values that were asked for, as systems to boot.

Pure: values in, values out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.system import Kernel, System

Axis = Literal["vcpus", "memory_mib", "page_size", "kernel"]
AXES: Final[tuple[Axis, ...]] = ("vcpus", "memory_mib", "page_size", "kernel")
MOST_BOOTS: Final = 500
"""More take hours: whoever wants them runs several sweeps."""


class SweptMachine(Document):
    """One combination of values."""

    vcpus: int
    memory_mib: int
    page_size: str
    kernel: str
    """Name of a system file whose [kernel] it is, or the system's own name."""

    def at(self, axis: Axis) -> int | str:
        """Return the value on one axis."""
        value: int | str = getattr(self, axis)
        return value

    def without(self, axis: Axis) -> tuple[int | str, ...]:
        """Return the values on the other axes: what the points of one line have in common."""
        return tuple(self.at(other) for other in AXES if other != axis)

    @property
    def label(self) -> str:
        """Return the name of this place's boots in a run."""
        return f"{self.kernel}-{self.vcpus}vcpu-{self.memory_mib}mib-{self.page_size}"


@dataclass(frozen=True, slots=True)
class SweepAxes:
    """What to sweep; an empty list leaves the system's own value. `kernels`: name -> the kernel to boot."""

    vcpus: tuple[int, ...] = ()
    memory_mib: tuple[int, ...] = ()
    page_size: tuple[str, ...] = ()
    kernels: Mapping[str, Kernel] | None = None

    def swept(self) -> tuple[Axis, ...]:
        """Return the axes with more than one value."""
        counts = {
            "vcpus": len(self.vcpus),
            "memory_mib": len(self.memory_mib),
            "page_size": len(self.page_size),
            "kernel": len(self.kernels or {}),
        }
        return tuple(axis for axis in AXES if counts[axis] > 1)


def places(system: System, wanted: SweepAxes, repeats: int) -> list[SweptMachine]:
    """Return every combination, the first axis changing slowest.

    Raises InputError when there is nothing to sweep, or when `repeats` boots of each are more than MOST_BOOTS.
    """
    if not wanted.swept():
        raise InputError(
            "nothing to sweep: no option has more than one value",
            hint="for example: --vcpus 1,2,4 --memory 128M,1G",
        )
    machine = system.machine
    lists: tuple[tuple[int | str, ...], ...] = (
        wanted.vcpus or (machine.vcpus,),
        wanted.memory_mib or (machine.memory_mib,),
        wanted.page_size or (machine.page_size.value,),
        tuple(wanted.kernels or {system.name: system.kernel}),
    )
    found = [SweptMachine.model_validate(dict(zip(AXES, values, strict=True))) for values in product(*lists)]
    if len(found) * repeats > MOST_BOOTS:
        sizes = " x ".join(str(len(values)) for values in lists if len(values) > 1)
        raise InputError(
            f"{sizes} places, {repeats} boots each: {len(found) * repeats} boots, and a sweep has {MOST_BOOTS} at most",
            hint="fewer values, fewer --seeds, or one axis at a time",
        )
    return found


def system_at(system: System, place: SweptMachine, kernels: Mapping[str, Kernel] | None) -> System:
    """Return the system to boot at a place. Raises InputError for one that cannot be."""
    if kernels is not None:
        system = system.with_part("kernel", **dict(kernels[place.kernel]))
    return system.with_part("machine", vcpus=place.vcpus, memory_mib=place.memory_mib, page_size=place.page_size)
