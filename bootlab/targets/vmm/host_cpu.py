"""Which CPU a host has: a machine that was kept on one goes on on the same alone."""

import contextlib
import hashlib
from pathlib import Path
from typing import Final

_OF_A_CPU: Final = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "microcode",
    "CPU implementer", "CPU part", "CPU variant", "CPU revision",
)  # fmt: skip
"""What of /proc/cpuinfo says which CPU it is, on x86 and arm64."""


def read_cpu(about: Path = Path("/proc/cpuinfo")) -> dict[str, str]:
    """Return what a machine's state depends on of this host's first CPU, by name; nothing where Linux does not tell.

    Flags count by their hash: there are two hundred.
    """
    fields: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in about.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    model = [fields[key] for key in _OF_A_CPU if key in fields]
    flags = " ".join(sorted(fields.get("flags", fields.get("Features", "")).split()))
    return {
        "CPU": " / ".join(model) or "unknown",
        "CPU's flags": hashlib.sha256(flags.encode()).hexdigest()[:12],
    }
