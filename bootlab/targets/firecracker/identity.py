"""What Firecracker and its jailer are called, and how Firecracker refuses a request."""

import re
from typing import Any, Final

from bootlab.targets.vmm.identity import Vmm


def fault_of(document: Any) -> str | None:
    """Return the words of a refusal; None for any other document."""
    fault = document.get("fault_message") if isinstance(document, dict) else None
    return fault if isinstance(fault, str) else None


FIRECRACKER: Final = Vmm(
    "Firecracker", re.compile(r"Firecracker v(\d{1,4}\.\d{1,4}\.\d{1,4}\S{0,40})"), fault_of, oldest="1.7"
)
JAILER: Final = Vmm(
    "Firecracker's jailer",
    re.compile(r"Jailer v(\d{1,4}\.\d{1,4}\.\d{1,4}\S{0,40})"),
    lambda document: None,
    oldest="1.7",
)
