"""Tells what devices a boot found, which modules are for them, and which modules of an image no device asks for."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bootlab.build.modules.aliases import ModuleAliases
from bootlab.build.modules.coldplug_plan import wanted_modules
from bootlab.build.modules.package import ModuleTree

_FACT = "device."


@dataclass(frozen=True, slots=True)
class Device:
    """A device that a module could be for, as the guest found it after ready."""

    path: str
    """Below /sys/devices."""
    modalias: str
    driver: str | None
    module: str | None
    """The one that its driver is in; None when that is built in."""


@dataclass(frozen=True, slots=True)
class DeviceModules:
    """The modules of a kernel, for the devices of one machine."""

    wanted: tuple[str, ...]
    """Modules for the devices, with all that these need, in load order."""
    at_work: tuple[str, ...]
    """Modules that hold the driver of a device, sorted."""
    idle: tuple[str, ...]
    """Modules in the image that no device asks for and none that is asked for needs, sorted."""


def read_devices(facts: Mapping[str, str]) -> list[Device]:
    """Return the devices among a guest's facts (guest/coldplug/devices.h), by path."""
    found = []
    for key, value in facts.items():
        words = value.split(" ", 3)
        if key.startswith(_FACT) and len(words) == 4:
            path, driver, module, modalias = words
            found.append(Device(path, modalias, _named(driver), _named(module)))
    return sorted(found, key=lambda device: device.path)


def find_modules(
    devices: Iterable[Device], tree: ModuleTree, aliases: ModuleAliases, never: Collection[str], image: Collection[str]
) -> DeviceModules:
    """Return what is for the devices. `never`: modules to leave out; `image`: names of those that the image holds."""
    listed = list(devices)
    wanted = tree.load_order(wanted_modules((device.modalias for device in listed), aliases), "devices", never)
    at_work = {device.module for device in listed if device.module is not None}
    return DeviceModules(tuple(wanted), tuple(sorted(at_work)), tuple(sorted({*image} - {*wanted} - at_work)))


def devices_text(devices: Iterable[Device], name: str) -> str:
    """Return the file of a recipe's `coldplug.devices`, with each device in a comment. `name`: the system's."""
    lines = [f"# Devices of {name}: a modalias a line, for coldplug.devices of its system file."]
    seen: dict[str, list[Device]] = {}
    for device in devices:
        seen.setdefault(device.modalias, []).append(device)
    for modalias, same in seen.items():
        drivers = sorted({device.driver for device in same if device.driver is not None})
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        lines.append(f"{modalias}  # {same[0].path}{more}: {', '.join(drivers) or 'no driver'}")
    return "".join(f"{line}\n" for line in lines)


def _named(word: str) -> str | None:
    return None if word == "-" else word
