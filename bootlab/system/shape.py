"""Machine shapes: a machine of QEMU brought as near to another VMM's as it goes, and what still differs, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape. `machine`: what it gives the keys of [machine] that a system file leaves out."""

    type: str
    machine: Mapping[str, Any]
    options: Mapping[str, str]
    """QEMU's machine properties, each where the file says nothing of it."""
    never: Mapping[str, str]
    """Property -> a value that would make another machine of it."""
    properties: tuple[str, ...] = ()
    """DRIVER.PROPERTY=VALUE, for every device of that driver which QEMU has or is given."""


FIRECRACKER: Final = Shape(
    type="microvm",
    machine={"hypervisor": "kvm", "cpu": "EPYC,tcg-cpuid=off,svm=off,monitor=off,x2apic=on,ssbd=off"},
    # Its chips are KVM's: both interrupt controllers and the timer. It has no clock with a battery.
    options={"acpi": "off", "rtc": "off", "pit": "on", "pic": "on", "isa-serial": "on"},
    never={"pcie": "on", "rtc": "on", "isa-serial": "off"},
    # Its devices speak virtio 1 (MMIO_VERSION, virtio/mmio.rs). Its network card has two queues, and of what its
    # configuration holds the MAC alone (Net::new_with_tap, virtio/net/device.rs); its disk has the capacity alone.
    properties=(
        "virtio-mmio.force-legacy=off",
        *(
            f"virtio-net-device.{feature}=off"
            for feature in ("ctrl_vq", "ctrl_rx", "ctrl_vlan", "ctrl_mac_addr", "ctrl_rx_extra", "ctrl_guest_offloads")
        ),
        "virtio-net-device.guest_announce=off",
        "virtio-net-device.status=off",
        "virtio-blk-device.config-wce=off",
        "virtio-blk-device.discard=off",
        "virtio-blk-device.write-zeroes=off",
    ),
)
SHAPES: Final[Mapping[str, Shape]] = {"firecracker": FIRECRACKER}


def shaped(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of [machine] with what its shape gives; as they are without one, or with one that is unknown."""
    shape = SHAPES.get(str(given.get("shape")))
    if shape is None:
        return dict(given)
    options = given.get("options", {})
    if isinstance(options, Mapping):
        options = {**shape.options, **options}
    return {"type": shape.type, **shape.machine, **given, "options": options}


def expect_shape(name: str, type_: str, options: Mapping[str, str]) -> None:
    """Raise ValueError for a machine that cannot have this shape."""
    shape = SHAPES[name]
    if type_ != shape.type:
        raise ValueError(f'shape = "{name}" is of type = "{shape.type}", and type is "{type_}"')
    for key, value in shape.never.items():
        if options.get(key) == value:
            raise ValueError(f'shape = "{name}": options.{key} = "{value}" makes another machine of it')


def shape_properties(name: str | None) -> tuple[str, ...]:
    """Return what devices of a machine are told for its shape, as `Shape.properties`; nothing without one."""
    return () if name is None else SHAPES[name].properties
