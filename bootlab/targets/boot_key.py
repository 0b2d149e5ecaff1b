"""The key of a boot: what of a system and of its files decides how it boots, so that the same boot is found again."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from bootlab.system import System


def boot_key(system: System, hashes: Mapping[str, str], plugin_config: str | None) -> str:
    """Return the sha256 by which a boot is found again: the system without its paths, and all files' contents."""
    document = {"system": boot_values(system), "hashes": dict(hashes), "plugin_config": plugin_config}
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def boot_values(system: System) -> dict[str, Any]:
    """Return all of a system that decides its boots, beside the content of files."""
    values = system.model_dump(
        mode="json",
        exclude={
            "name": True,
            "description": True,
            # What a technique of theirs does is in the system, and a host model's figures are among the hashes.
            "extensions": True,
            # Its figures are in the plugin's config, and its hash is among the hashes.
            "clock": {"host_model"},
            "kernel": {"image", "package", "build", "suite", "symbols"},
            "initramfs": True,
            "rootfs": True,
            "disks": {"__all__": {"path"}},
            # What it makes is on the medium, whose content counts.
            "bootloader": True,
            "card": True,
            "flash": True,
            "image": {"path"},
            # Clones alone are told it, whose keys have all that they are told.
            "snapshot": {"woken_at"},
            # Where a VMM lies and is reached decides nothing; its hash and its metadata's are among the hashes.
            # How a clone's memory comes to it is none of what the machine is made of.
            "target": {
                "boots",
                "binary",
                "socket",
                "probe",
                "mmds",
                "pages",
                "memory_restore_mode",
                "jailer",
                "chroot_base",
                "jail_id",
            },
        },
    )
    # Of a root the content counts and where it lies, which boots on record of virtio disks do not say.
    if system.rootfs is not None and system.rootfs.device != "virtio-blk":
        values["rootfs"] = system.rootfs.model_dump(mode="json", include={"device", "kept_ram"})
    return values
