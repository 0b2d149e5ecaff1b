"""What systemd-boot would boot: its configuration, and its entries in the order of its menu, files and UKIs alike.

Pure. The order is that of systemd's boot.c (config_entry_compare, version 252): an entry that was tried as often as it
may be is behind all others, and those with a sort key are before those without.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from bootlab.build.image.boot_entries import TRIES, BootEntry, tries_left, version_key
from bootlab.build.image.efi_program import EfiProgram

_NUMBER = re.compile(r"[0-9]{1,9}")
_VERSIONS = ("IMAGE_VERSION", "VERSION", "VERSION_ID", "BUILD_ID")
"""What a UKI's version is, of the variables in its os-release the first that is there."""


def parse_loader_conf(text: str) -> tuple[float | None, str]:
    """Return how long systemd-boot shows its menu (s), None for what it does by itself, and its default entry."""
    keys = dict(line.strip().split(None, 1) for line in text.splitlines() if len(line.split(None, 1)) == 2)
    told = keys.get("timeout", "").strip()
    wait_s = float(told) if _NUMBER.fullmatch(told) else -1.0 if told == "menu-force" else None
    return wait_s, keys.get("default", "").strip().removesuffix(".conf")


def uki_entry(program: EfiProgram, name: str) -> BootEntry:
    """Return the entry of a UKI in EFI/Linux whose file is `name`."""
    text = program.sections[".osrel"].content if ".osrel" in program.sections else b""
    lines = (line.partition("=") for line in text.decode(errors="replace").rstrip("\0").splitlines())
    told = {key.strip(): value.strip().strip("\"'") for key, equals, value in lines if equals}
    stem = name[: -len(".efi")]
    return BootEntry(
        title=told.get("PRETTY_NAME", name),
        identity=f"{TRIES.sub('', stem)}.efi".lower(),
        version=next((told[key] for key in _VERSIONS if key in told), ""),
        file=stem,
        sort_key=told.get("IMAGE_ID", told.get("ID", "")),
    )


def find_default(entries: Sequence[BootEntry], default: str) -> str:
    """Return the number of the entry that a default names, by its identity or a pattern of it; empty for none."""
    for number, one in enumerate(entries):
        if fnmatchcase(one.identity, default):
            return str(number)
    return ""


def in_menu_order(entries: Sequence[BootEntry]) -> list[BootEntry]:
    """Return the entries in the order in which systemd-boot shows them; without a default it boots the first."""
    found = sorted(entries, key=lambda one: version_key(one.identity), reverse=True)
    found.sort(key=lambda one: version_key(one.version) if one.sort_key else [], reverse=True)
    return sorted(found, key=lambda one: (tries_left(one.file) == 0, not one.sort_key, one.sort_key, one.machine_id))
