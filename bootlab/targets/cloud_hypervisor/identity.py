"""What Cloud Hypervisor is called, and how it refuses a request."""

import re
from typing import Any, Final

from bootlab.targets.vmm.identity import Vmm


def fault_of(document: Any) -> str | None:
    """Return the words of a refusal, a list with the error and what it came of; None for any other document."""
    if not isinstance(document, list) or not document or not all(isinstance(one, str) for one in document):
        return None
    return ": ".join(document)


CLOUD_HYPERVISOR: Final = Vmm(
    "Cloud Hypervisor", re.compile(r"cloud-hypervisor v(\d{1,4}\.\d{1,4}\S{0,40})"), fault_of, oldest="53.0"
)
