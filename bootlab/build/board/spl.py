"""What bootlab adds to a board's SPL: code by a patch, and a plan, the sector of its card that says what to do."""

import struct
import zlib
from pathlib import Path

from bootlab.errors import InputError
from bootlab.system import SECTOR, System


def with_spl_code(system: System, patch: Path, option: str, plan_at: int, *, asked_by: str) -> System:
    """Return the system with an SPL that has the code of `patch`, built where U-Boot's `option` is y.

    `plan_at`: where its plan lies on the card, in bytes. `asked_by`: the key of the system file that asks for it.
    Raises InputError for options of a bootloader that say otherwise.
    """
    bootloader = system.bootloader
    assert bootloader is not None
    options = {option: "y", f"{option}_SECTOR": hex(plan_at // SECTOR)}
    if said := sorted(options.keys() & bootloader.options.keys()):
        raise InputError(f"bootloader.options.{said[0]}: {asked_by} decides it", hint="take one of the two out")
    return system.with_part(
        "bootloader", patches=(*bootloader.patches, patch), options={**bootloader.options, **options}
    )


def sealed_plan(plan: bytes) -> bytes:
    """Return the sector with a plan in it, and behind that its CRC-32, which SPL checks before it believes the rest."""
    return (plan + struct.pack("<I", zlib.crc32(plan))).ljust(SECTOR, b"\0")
