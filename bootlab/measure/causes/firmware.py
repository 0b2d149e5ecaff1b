"""Why firmware with Secure Boot started nothing: who refused which program, from what each says on the console."""

import re

from bootlab.system import System

_REFUSED = re.compile(
    r'BdsDxe: failed to (?:load|start) \S+ ("[^"\r\n]*")[^\r\n]*: (?:Access Denied|Security Violation)'
)
_BY_SHIM = re.compile(
    r"Verification failed: \(0x1A\) Security Violation|bad shim signature|\(0x1A\) Security Violation"
)


def find_firmware_cause(system: System, console: str) -> str | None:
    """Return why a firmware that wants signatures started nothing; None where that is not so or not known."""
    if not system.machine.secure_boot:
        return None
    if (found := _REFUSED.search(console)) is not None:
        return (
            f"Secure Boot refused the loader on {found[1]}: none of the keys in the firmware's variables, which are "
            "Microsoft's, signed it; shim is (bootlab build image --loader shim, Debian's shim-signed), or leave out "
            "machine.secure_boot"
        )
    if _BY_SHIM.search(console) is not None:
        return (
            "Secure Boot: shim refused what it was to start next: Debian's key, which it has in it, did not sign that; "
            "grub-efi-amd64-signed and Debian's kernels are signed"
        )
    return None
