"""What `bootlab coldplug` found: the devices of a machine, the modules for them, and the modules for no device."""

from collections.abc import Iterable
from typing import Final, Literal

from pydantic import Field

from bootlab.build.modules.package import ModuleTree
from bootlab.document import Document
from bootlab.findings.device_modules import Device
from bootlab.measure.record import Outcome

SCHEMA: Final = "bootlab.coldplug/1"


class Module(Document):
    """A kernel module. `bytes`: None when the kernel's package does not have it."""

    name: str
    bytes: int | None


class ColdplugResult(Document):
    """The devices that one boot found, and the modules that they ask for."""

    schema_: Literal["bootlab.coldplug/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    kernel: str
    """Its release."""
    outcome: Outcome
    """Of the last boot."""
    devices: list[Device]
    """Those that a module could be for."""
    wanted: list[Module]
    """Modules for the devices, with all that these need, in load order."""
    at_work: list[str]
    """Names of those of them whose driver has a device."""
    image: int
    """Modules in the image."""
    idle: list[Module]
    """Of those in the image, the ones that no device needs."""
    written: str = Field(validation_alias="list", serialization_alias="list")
    """The file with the devices, as `coldplug.devices` of a recipe takes it."""
    run: str


def sized_modules(names: Iterable[str], tree: ModuleTree) -> list[Module]:
    """Return modules with the bytes that a kernel's package has of each."""
    return [Module(name=name, bytes=len(tree.content(name)) if name in tree.files else None) for name in names]
