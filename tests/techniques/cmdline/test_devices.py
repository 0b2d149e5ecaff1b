"""Techniques of devices on the command line: the bus that disks and network are on stays."""

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured

ALL = {technique.name: technique for technique in load_catalogue()}


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].change.applies(system, measured) is None
    return ALL[name].change.apply(system, measured)


def test_pci_devices_need_their_bus(system: System, measured: Measured) -> None:
    assert ALL["cmdline_pci_off"].change.applies(system, measured) == "the disks and network of q35 are PCI devices"
    assert ALL["cmdline_pci_off"].change.applies(apply("machine_microvm", system, measured), measured) is None
