"""What firmware and shim say that refuse a program: lines of real boots (OVMF 2025.02; shim's of its source)."""

import pytest

from bootlab.measure.causes.firmware import find_firmware_cause
from bootlab.system import System

REFUSED = (
    'BdsDxe: loading Boot0001 "UEFI Misc Device" from PciRoot(0x0)/Pci(0x1,0x0)\n'
    'BdsDxe: failed to load Boot0001 "UEFI Misc Device" from PciRoot(0x0)/Pci(0x1,0x0): Access Denied\n'
    "BdsDxe: No bootable option or device was found.\n"
)
NOT_FOUND = REFUSED.replace("Access Denied", "Not Found")
SHIM = "Verification failed: (0x1A) Security Violation\n"


def system(*, secure: bool = True) -> System:
    machine = {"type": "q35", "firmware": "ovmf", "secure_boot": secure}
    return System.model_validate(
        {
            "name": "s",
            "machine": machine,
            "kernel": {"installed": True},
            "image": {"path": "disk.img"},
            "booted": {"console": "login:"},
        }
    )


@pytest.mark.parametrize(
    ("console", "words"),
    [(REFUSED, 'refused the loader on "UEFI Misc Device"'), (SHIM, "shim refused what it was to start next")],
)
def test_who_refused_is_named(console: str, words: str) -> None:
    cause = find_firmware_cause(system(), console)
    assert cause is not None and words in cause
    assert find_firmware_cause(system(secure=False), console) is None


def test_what_was_not_found_was_not_refused() -> None:
    assert find_firmware_cause(system(), NOT_FOUND) is None
