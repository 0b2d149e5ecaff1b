"""Another program as init: where a system file offers it, and the kernel's line that proves it."""

from bootlab.techniques.model.evidence import Proof
from bootlab.techniques.model.proofs import line_appears

DIRECT_INIT = "/sbin/init-direct"
"""Where a system file offers its program: `"/sbin/init-direct" = "my-program"` in [initramfs.files]."""


def runs_as_init(program: str) -> Proof:
    """The kernel says that it starts `program` as init."""
    return line_appears(f"Run {program} as init process")
