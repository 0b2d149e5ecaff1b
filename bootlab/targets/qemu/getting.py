"""How this machine gets a QEMU that is new enough: one way each, by what it runs and what its apt has.

Debian 12 has it in its backports. Another release whose own is older, as Ubuntu 24.04's 8.2, is served by the container
image. scripts/setup goes the same ways, and says the same.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bootlab.errors import BootlabError
from bootlab.process import run
from bootlab.sources import SET_UP

MINIMUM_QEMU: Final = (9, 2)
"""Plugin API v4: reading guest registers and memory from a TCG plugin (QEMU 9.2)."""
_OS_RELEASE: Final = (Path("/etc/os-release"), Path("/usr/lib/os-release"))
_BACKPORTS: Final = "bookworm"
_APT_ASKED_S: Final = 20.0
_CONTAINER: Final = (
    "the container image has one: `sudo scripts/container bootlab.tar` in a checkout of bootlab makes it, and "
    "docs/installing.md there says how it is used"
)


def qemu_numbers(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version: `10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)`, `11.1.50 (v11.1.0)`."""
    return tuple(int(part) for part in version.partition(" ")[0].split(".")[:2] if part.isdigit())


def way_to_qemu() -> str:
    """Return what somebody at this machine does to get a QEMU that is new enough, as a hint."""
    return way_on(_release(), _offered())


def way_on(release: Mapping[str, str], offered: str | None) -> str:
    """Return the same for a machine whose os-release says this (name -> value) and whose apt has this version of QEMU.

    `offered` None: there is no apt; empty: it has no QEMU, or no list of packages yet.
    """
    if release.get("VERSION_CODENAME") == _BACKPORTS:
        return f"{SET_UP} installs it, from Debian 12's backports"
    if offered is None:
        return "install it with this system's package manager, so that it is on PATH"
    if not offered or qemu_numbers(offered) >= MINIMUM_QEMU:
        return f"{SET_UP} installs it"
    return f"{release.get('PRETTY_NAME') or 'this release'} has QEMU {offered}; {_CONTAINER}"


def _release() -> dict[str, str]:
    path = next((path for path in _OS_RELEASE if path.is_file()), None)
    text = path.read_text(encoding="utf-8", errors="replace") if path is not None else ""
    return dict(re.findall(r"^(\w+)=[\"']?(.*?)[\"']?$", text, re.MULTILINE))


def _offered() -> str | None:
    try:
        told = run(["apt-cache", "policy", "qemu-system-x86"], deadline_s=_APT_ASKED_S).text
    except BootlabError:
        return None
    # Its epoch and what Debian adds are left out:   Candidate: 1:8.2.2+ds-0ubuntu1.4
    found = re.search(r"^ *Candidate: (?:\d+:)?(\d+(?:\.\d+)*)", told, re.MULTILINE)
    return found[1] if found else ""
