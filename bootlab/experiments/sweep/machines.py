"""The machines of a sweep: every combination of the values that were asked for, as systems to boot.

Pure: values in, values out.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from pydantic import Field

from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.system import Kernel, System
from bootlab.system.setting import OPTION, KeySetting, one_in_another

AXES: Final = ("vcpus", "memory_mib", "page_size", "kernel")
"""Those with an option of their own; an axis of any other name is a key of the system file."""
_ELSEWHERE: Final = {
    "machine.vcpus": "--vcpus",
    "machine.memory_mib": "--memory",
    "machine.page_size": "--page-size",
    "seed": "--seeds",
}
_WHOLE: Final = {"machine": "cpu", "kernel": "cmdline"}
"""Tables of which a sweep sets keys, and some itself, each with an example."""
_OF_ALL: Final = ("name", "clock", "extensions")
"""What all places of a sweep have in common."""
MOST_BOOTS: Final = 500
"""More take hours: whoever wants them runs several sweeps."""


class SweptMachine(Document):
    """One combination of values."""

    vcpus: int
    memory_mib: int
    page_size: str
    kernel: str
    """Name of a system file whose [kernel] it is, or the system's own name."""
    settings: tuple[KeySetting, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Keys of the system file with the values they have here, as they were typed."""

    def at(self, axis: str) -> int | str:
        """Return the value on one axis."""
        if axis in AXES:
            value: int | str = getattr(self, axis)
            return value
        return next(one.shown for one in self.settings if one.key == axis)

    def without(self, axis: str) -> tuple[int | str, ...]:
        """Return the values on the other axes: what the points of one line have in common."""
        return tuple(self.at(other) for other in (*AXES, *(one.key for one in self.settings)) if other != axis)

    @property
    def label(self) -> str:
        """Return the name of this place's boots in a run."""
        words = f"{self.kernel}-{self.vcpus}vcpu-{self.memory_mib}mib-{self.page_size}"
        if not self.settings:
            return words
        # Values may be long, and alike but for what no name of a folder can hold.
        values = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", one.shown).strip("_")[:20] for one in self.settings)
        digest = hashlib.sha256("\0".join(f"{one.key}\0{one.text}" for one in self.settings).encode()).hexdigest()
        return f"{words}-{values}-{digest[:8]}"

    def booted(self, swept: Sequence[str]) -> str:
        """Return the name of what is booted here: what tells it from other places, but for vCPUs, memory and pages."""
        set_here = [f"{one.key} {one.shown}" for one in self.settings if one.key in swept]
        return ", ".join([self.kernel, *set_here] if "kernel" in swept or not set_here else set_here)


@dataclass(frozen=True, slots=True)
class SweepAxes:
    """What to sweep; an empty list leaves the system's own value. `kernels`: name -> the kernel to boot.

    `settings`: key of the system file -> its values.
    """

    vcpus: tuple[int, ...] = ()
    memory_mib: tuple[int, ...] = ()
    page_size: tuple[str, ...] = ()
    kernels: Mapping[str, Kernel] | None = None
    settings: Mapping[str, Sequence[KeySetting]] = field(default_factory=dict)
    made: Callable[[Sequence[KeySetting]], System] | None = None
    """The system with keys set; needed where there are `settings`."""

    def swept(self) -> tuple[str, ...]:
        """Return the axes with more than one value."""
        counts = {
            "vcpus": len(self.vcpus),
            "memory_mib": len(self.memory_mib),
            "page_size": len(self.page_size),
            "kernel": len(self.kernels or {}),
        }
        counts |= {key: len(values) for key, values in self.settings.items()}
        return tuple(axis for axis, values in counts.items() if values > 1)


def places(system: System, wanted: SweepAxes, repeats: int) -> list[SweptMachine]:
    """Return every combination, the first axis changing slowest.

    Raises InputError when there is nothing to sweep, when `repeats` boots of each are more than MOST_BOOTS, and for a
    key that is not to be set.
    """
    for index, key in enumerate(wanted.settings):
        _expect_free(key, wanted)
        for other in list(wanted.settings)[:index]:
            if one_in_another(key, other):
                raise InputError(f"{OPTION} {other} and {key}: one is in the other, so only the last would count")
    if not wanted.swept():
        raise InputError(
            "nothing to sweep: no option has more than one value",
            hint="for example: --vcpus 1,2,4 --memory 128M,1G, or --set rootfs.model=hdd,ssd",
        )
    machine = system.machine
    lists: tuple[tuple[int | str, ...], ...] = (
        wanted.vcpus or (machine.vcpus,),
        wanted.memory_mib or (machine.memory_mib,),
        wanted.page_size or (machine.page_size.value,),
        tuple(wanted.kernels or {system.name: system.kernel}),
    )
    kept = [tuple(values) for values in wanted.settings.values()]
    found = [
        SweptMachine.model_validate({**dict(zip(AXES, values, strict=True)), "settings": settings})
        for values in product(*lists)
        for settings in product(*kept)
    ]
    if len(found) * repeats > MOST_BOOTS:
        sizes = " x ".join(str(len(values)) for values in (*lists, *kept) if len(values) > 1)
        raise InputError(
            f"{sizes} places, {repeats} boots each: {len(found) * repeats} boots, and a sweep has {MOST_BOOTS} at most",
            hint="fewer values, fewer --seeds, or one axis at a time",
        )
    return found


def system_at(system: System, place: SweptMachine, wanted: SweepAxes) -> System:
    """Return the system to boot at a place. Raises InputError for one that cannot be."""
    if wanted.made is not None and place.settings:
        system = wanted.made(place.settings)
    if wanted.kernels is not None:
        system = system.with_part("kernel", **dict(wanted.kernels[place.kernel]))
    return system.with_part("machine", vcpus=place.vcpus, memory_mib=place.memory_mib, page_size=place.page_size)


def _expect_free(key: str, wanted: SweepAxes) -> None:
    if (option := _ELSEWHERE.get(key)) is not None:
        raise InputError(f"{OPTION} {key}: has an option of its own", hint=option)
    part = key.partition(".")[0]
    if key in _WHOLE:
        raise InputError(f"{OPTION} {key}: set a key of it, as in {key}.{_WHOLE[key]}")
    if part in _OF_ALL:
        raise InputError(f"{OPTION} {key}: all places of a sweep have the system's own {part}")
    if part == "kernel" and wanted.kernels is not None:
        raise InputError(f"{OPTION} {key}: --kernel brings whole kernels", hint="one of the two")
