"""Which target a system boots on: the one place that knows them all. A new target is a folder and a line here."""

from collections.abc import Mapping
from typing import Final

from bootlab.system import System
from bootlab.targets.cloud.target import CommandCloudTarget, Ec2Target
from bootlab.targets.cloud_hypervisor.target import CloudHypervisorTarget
from bootlab.targets.firecracker.target import FirecrackerTarget
from bootlab.targets.host.target import HostTarget
from bootlab.targets.qemu.target import QemuTarget
from bootlab.targets.replay.target import ReplayTarget
from bootlab.targets.serial.target import SerialTarget
from bootlab.targets.target import Target

EMULATED: Final = "qemu"
"""The kind of a system without a [target]."""

TARGETS: Final[Mapping[str, Target]] = {
    EMULATED: QemuTarget(),
    "serial": SerialTarget(),
    "host": HostTarget(),
    "ec2": Ec2Target(),
    "cloud": CommandCloudTarget(),
    "firecracker": FirecrackerTarget(),
    "cloud-hypervisor": CloudHypervisorTarget(),
    "replay": ReplayTarget(),
}


def target_of(system: System) -> Target:
    """Return the target that `system` boots on."""
    return TARGETS[EMULATED if system.target is None else system.target.kind]
