"""Which modules are for a device: patterns as depmod collects them from real modules."""

import pytest

from bootlab.build.modules.aliases import ModuleAliases

ALIASES = ModuleAliases(
    [
        ("pci:v00008086d0000100Esv*sd*bc*sc*i*", "e1000"),
        ("pci:v*d*sv*sd*bc02sc00i*", "any_ethernet"),
        ("virtio:d00000002v*", "virtio_blk"),
        ("acpi*:PNP0501:*", "serial"),
        ("cpu:type:x86,ven*fam*mod*:feature:*0081*", "aesni_intel"),
        ("of:N*T*Cns16550", "of_serial"),
        ("usb:v1D6Bp000[1-3]d*", "hub"),
        ("fs-ext4", "ext4"),
    ]
)


@pytest.mark.parametrize(
    ("modalias", "modules"),
    [
        ("pci:v00008086d0000100Esv00001AF4sd00001100bc02sc00i00", ["any_ethernet", "e1000"]),
        ("pci:v00008086d0000100Esv00001AF4sd00001100bc03sc00i00", ["e1000"]),
        ("virtio:d00000002v00001AF4", ["virtio_blk"]),
        ("virtio:d00000001v00001AF4", []),
        # A wildcard may stand in the bus itself.
        ("acpi:PNP0501:", ["serial"]),
        ("acpi0:PNP0501:PNP0500:", ["serial"]),
        ("cpu:type:x86,ven0000fam0006mod000F:feature:,0001,0081,0099", ["aesni_intel"]),
        ("of:NserialT(null)Cns16550", ["of_serial"]),
        ("usb:v1D6Bp0002d0601", ["hub"]),
        ("usb:v1D6Bp0004d0601", []),
        ("fs-ext4", ["ext4"]),
        # Case counts, and a pattern is for the whole of it.
        ("PCI:v00008086d0000100Esv00001AF4sd00001100bc02sc00i00", []),
        ("of:NserialT(null)Cns16550a", []),
        ("", []),
    ],
)
def test_modules_of_a_device(modalias: str, modules: list[str]) -> None:
    assert ALIASES.modules(modalias) == modules
