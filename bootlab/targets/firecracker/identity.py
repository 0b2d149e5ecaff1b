"""What Firecracker is called, and how it refuses a request."""

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
