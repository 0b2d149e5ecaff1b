"""What was written over a root in kept RAM, as it lies on its disk (guest/kept/store.h): found there, and spoilt."""

import hashlib
import re
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import Fault

_BLOCK: Final = 4096
_SLOTS: Final = 2
_HEADER: Final = re.compile(
    rb"(bootlab-kept-changes 1\ngeneration (\d+)\nroot ([0-9a-f]{64})\nbytes (\d+)\nsum ([0-9a-f]{8})\n)"
    rb"crc ([0-9a-f]{8})\n\0*"
)


@dataclass(frozen=True, slots=True)
class SlotHeader:
    """What the header of one of the two slots says. `root`: the image that the changes lie over; `sum`: CRC-32."""

    generation: int
    root: str
    bytes: int
    sum: int


def slot_block(header: SlotHeader) -> bytes:
    """Return the block that says this."""
    text = f"bootlab-kept-changes 1\ngeneration {header.generation}\nroot {header.root}\nbytes {header.bytes}\n"
    data = f"{text}sum {header.sum:08x}\n".encode()
    return (data + b"crc %08x\n" % zlib.crc32(data)).ljust(_BLOCK, b"\0")


def read_slot(block: bytes) -> SlotHeader | None:
    """Return what a block says; None for one that is no header, or damaged."""
    found = _HEADER.fullmatch(block)
    if found is None or int(found[6], 16) != zlib.crc32(found[1]):
        return None
    return SlotHeader(int(found[2]), found[3].decode(), int(found[4]), int(found[5], 16))


def read_slots(disk: IO[bytes], size: int) -> dict[int, SlotHeader]:
    """Return the headers that are whole by where they begin, on a disk of `size` bytes."""
    slot = (size // _BLOCK - 1) // _SLOTS * _BLOCK
    found = {}
    for at in range(_BLOCK, _BLOCK + _SLOTS * slot, slot):
        disk.seek(at)
        if (header := read_slot(disk.read(_BLOCK))) is not None:
            found[at] = header
    return found


def _trials_block(generation: int, slot: int) -> bytes:
    told = [f"{generation} try3" if one == slot else "0 none" for one in range(_SLOTS)]
    text = f"bootlab-kept-trials 1\nslot 0 {told[0]}\nslot 1 {told[1]}\n".encode()
    return (text + b"crc %08x\n" % zlib.crc32(text)).ljust(_BLOCK, b"\0")


def spoil_changes(overlay: Path, below: Path, fault: Fault) -> None:
    """Do to the overlay of the disk with changes what the fault does; `below`: the disk that it lies over.

    Raises InputError where none were ever written, MissingTool (qemu-utils).
    """
    if fault not in (Fault.CHANGES_BIT, Fault.CHANGES_HUNG, Fault.OLD_IMAGE):
        return
    raw = overlay.with_suffix(".raw")
    parts = {"file.filename": overlay, "backing.driver": "raw", "backing.file.filename": below}
    options = ",".join(f"{name}={str(value).replace(',', ',,')}" for name, value in parts.items())
    run(["qemu-img", "convert", "--image-opts", f"driver=qcow2,{options}", "-O", "raw", raw], package="qemu-utils")
    with raw.open("r+b") as disk:
        slots = read_slots(disk, raw.stat().st_size)
        if not slots:
            raise InputError(
                f'power_on.fault = "{fault}": the boot before has written no changes',
                hint="the system starts bootlab-kept save once it is ready (docs/persistence.md)",
            )
        newest = max(slots, key=lambda one: slots[one].generation)
        if fault is Fault.CHANGES_BIT:
            disk.seek(place := newest + _BLOCK + slots[newest].bytes // 2)
            (byte,) = disk.read(1)
            disk.seek(place)
            disk.write(bytes([byte ^ 1]))
        elif fault is Fault.CHANGES_HUNG:
            disk.seek(0)
            disk.write(_trials_block(slots[newest].generation, 0 if newest == _BLOCK else 1))
        else:
            for at, header in slots.items():
                disk.seek(at)
                disk.write(slot_block(replace(header, root=hashlib.sha256(header.root.encode()).hexdigest())))
    # Zeros are written as well: what lies below is not seen any more.
    run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-S", "0", raw, overlay], package="qemu-utils")
    raw.unlink()
