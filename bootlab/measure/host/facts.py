"""Facts about the host that a measured time depends on, kept in every record. No name and no path is among them."""

import os
import platform
from pathlib import Path
from typing import Any


def read_host_facts() -> dict[str, Any]:
    """Return the facts, ready for JSON: text, numbers, or None for what this host does not say."""
    return {
        "cpu_model": _cpu_model(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "governor": _line(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "load_1_min": os.getloadavg()[0],
        "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "kernel": platform.release(),
        "distribution": _distribution(),
    }


def _cpu_model() -> str | None:
    # x86 says "model name : ..."; arm64 gives numbers only: "CPU implementer" and "CPU part" together name the core.
    fields: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    except OSError:
        return None
    if "model name" in fields:
        return fields["model name"]
    if "CPU part" in fields:
        return f"implementer {fields.get('CPU implementer', '?')} part {fields['CPU part']}"
    return None


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _line(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
