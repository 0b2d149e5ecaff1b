"""Facts about the host that a measured time depends on, kept in every record. No name and no path is among them."""

import os
import platform
from functools import lru_cache
from pathlib import Path
from typing import Any

from bootlab.process import run


def host_facts(*, qemu: Path | None, kvm: str) -> dict[str, Any]:
    """Return the facts, ready for JSON: text, numbers, or None for what this host does not say.

    `qemu` is the emulator's program, None when the boot has none; `kvm` is the state of the KVM device in words.
    Raises ProgramFailed when `qemu` does not run.
    """
    return {
        "cpu_model": _cpu_model(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "governor": _line(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "load_1_min": os.getloadavg()[0],
        "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "kernel": platform.release(),
        "distribution": _distribution(),
        "qemu": None if qemu is None else qemu_version(qemu),
        "kvm": kvm,
    }


@lru_cache
def qemu_version(program: Path) -> str:
    """Return a QEMU program's version with its packager's, e.g. `10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)`.

    Raises MissingTool when it is not there, ProgramFailed when it does not run.
    """
    # QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)
    first_line = run([program, "--version"], deadline_s=20).text.partition("\n")[0]
    return first_line.partition(" version ")[2] or first_line


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
