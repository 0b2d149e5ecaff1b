"""The disks of a machine that hibernates: a swap area to begin with, and what is wrong with them by the next power-on.

What was written to each disk is a qcow2 overlay. They are changed by QEMU's own tools.
"""

import json
import zlib
from pathlib import Path
from typing import Final

from bootlab.build.cache import Cache
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import Fault, System

MEMORY: Final = "memory"
"""The file in which a boot leaves its memory to another."""
_UUID: Final = "b0071ab0-0000-4000-8000-000000000004"
_PAGE: Final = 4096
_NOTE_PAGES: Final = 2
NOTE_BYTES: Final = _NOTE_PAGES * _PAGE
"""Behind the swap area is a machine's note on its image (guest/sleep/note.h)."""
_SIGNATURE: Final = 10
_IMAGE: Final = b"S1SUSPEND\0"
"""Behind a swap area's header, and before it what it was before an image came."""
_FORMAT: Final = 1


def disk_file(index: int) -> str:
    """Return the name of the file in which a boot leaves what it wrote to a disk."""
    return f"disk{index}.qcow2"


def place_of(system: System, filesystem: str) -> int:
    """Return which of its disks, the root's before all, a guest means by this file system: the first that has it.

    Raises ValueError where none has.
    """
    known: list[str] = [disk.filesystem for disk in system.disks]
    return (1 if system.rootfs is not None else 0) + known.index(filesystem)


def make_swap(size_mib: int, cache: Cache) -> Path:
    """Return an image of `size_mib` MiB that is a swap area, the same bytes every time, and a note's blocks behind it.

    Raises MissingTool (util-linux), StoreError.
    """

    def build(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size_mib << 20)
        kib = ((size_mib << 20) - _NOTE_PAGES * _PAGE) // 1024
        run(["mkswap", "-q", "-p", str(_PAGE), "-U", _UUID, path, str(kib)], package="util-linux", env=_ADMIN)

    return cache.make("disk", f"swap {_FORMAT} {size_mib}", build)


_ADMIN: Final = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def spoil_disks(swap: Path, span: range, root: tuple[Path, Path] | None, fault: Fault) -> None:
    """Do to the overlays of a machine's disks what the fault does. Raises InputError where there is none to do it to.

    `span`: where on its disk the swap area lies with its note, in bytes, and all that was written to that disk. `root`:
    the overlay of the root's disk, and the image that it lies over.
    """
    note = span.stop - NOTE_BYTES
    if fault is Fault.OTHER_KERNEL:
        _change_note(swap, note // _PAGE, b"\nkernel ")
    elif fault is Fault.OLD_IMAGE:
        _change_note(swap, note // _PAGE, b"\ncard ")
    elif fault is Fault.IMAGE_CUT:
        # The pages of an image lie one behind the other from the beginning of the area.
        begin = span.start + _half_written(swap)
        _change(swap, f"write -z {begin} {note - begin}")
    elif fault is Fault.NO_IMAGE:
        _take_image(swap, span.start // _PAGE)
    elif fault is Fault.IMAGE_TAKEN:
        _bring_back_image(swap, span.start // _PAGE)
    elif fault is Fault.ROOT_CHANGED:
        if root is None:
            raise InputError('power_on.fault: "root-changed" is of a [rootfs] on a disk, and there is none')
        _mount_elsewhere(*root)


def _mount_elsewhere(overlay: Path, below: Path) -> None:
    """Do to an ext4 root what another system does that mounts it: the journal is replayed, and a file is written."""
    raw = overlay.with_suffix(".raw")
    parts = {"file.filename": overlay, "backing.driver": "raw", "backing.file.filename": below}
    options = ",".join(f"{name}={str(value).replace(',', ',,')}" for name, value in parts.items())
    run(
        ["qemu-img", "convert", "--image-opts", f"driver=qcow2,{options}", "-O", "raw", raw],
        package="qemu-utils",
    )
    # 1: it has corrected what there was to correct.
    run(["sh", "-c", 'e2fsck -fy "$1"; [ $? -le 1 ]', "sh", raw], package="e2fsprogs", env=_ADMIN)
    run(["debugfs", "-w", "-R", "write /dev/null elsewhere", raw], package="e2fsprogs", env=_ADMIN)
    # Zeros are written as well: what lies below is not seen any more.
    run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-S", "0", raw, overlay], package="qemu-utils")
    raw.unlink()


def _change_note(swap: Path, page: int, word: bytes) -> None:
    """Write a note as a machine with another kernel has left it, or another card, as `word` begins the line of it."""
    text = _read_page(swap, page).rpartition(b"crc ")[0].replace(word, word + b"other-", 1)
    _write_page(swap, page, (text + b"crc %08x\n" % zlib.crc32(text)).ljust(_PAGE, b"\0"))


def _take_image(swap: Path, page: int) -> None:
    """Do to the swap area's header what a kernel does that takes its image (kernel/power/swap.c)."""
    _sign(swap, page, Fault.NO_IMAGE, "the boot before has left no image that could be taken away")


def _bring_back_image(swap: Path, page: int) -> None:
    """Write the header that the disk has where it lost the write by which a kernel took the image: none flushes it."""
    _sign(swap, page, Fault.IMAGE_TAKEN, "the start before has taken no image")


def _sign(swap: Path, page: int, fault: Fault, why_not: str) -> None:
    """Change a swap area's signature: that of an image to what it was before, or back. Raises InputError otherwise."""
    header = _read_page(swap, page)
    before, now = header[-2 * _SIGNATURE : -_SIGNATURE], header[-_SIGNATURE:]
    found, wanted = (_IMAGE, before) if fault is Fault.NO_IMAGE else (before, _IMAGE)
    if now != found:
        raise InputError(
            f'power_on.fault = "{fault.value}": {why_not}',
            hint="without the fault a boot shows what is found: --power-on hibernated",
        )
    _write_page(swap, page, header[:-_SIGNATURE] + wanted)


def _read_page(swap: Path, page: int) -> bytes:
    block = swap.with_suffix(".page")
    argv: list[str | Path] = ["qemu-img", "dd", "-f", "qcow2", "-O", "raw", f"bs={_PAGE}", f"skip={page}"]
    run([*argv, f"count={page + 1}", f"if={swap}", f"of={block}"], package="qemu-utils")
    data = block.read_bytes()
    block.unlink()
    return data


def _write_page(swap: Path, page: int, data: bytes) -> None:
    block = swap.with_suffix(".page")
    block.write_bytes(data)
    _change(swap, f"write -s {block.name} {page * _PAGE} {_PAGE}")
    block.unlink()


def _change(overlay: Path, command: str) -> None:
    # It cuts a command at each blank, also at those of a path: so nothing in it has the folder in its name.
    run(["qemu-io", "-f", "qcow2", "-c", command, overlay.name], cwd=overlay.parent, package="qemu-utils")


def _half_written(swap: Path) -> int:
    """Return half of what was written into the swap area, in whole pages."""
    words = run(["qemu-img", "map", "--output=json", "-f", "qcow2", swap], package="qemu-utils").text
    written = sum(int(one["length"]) for one in json.loads(words) if one["depth"] == 0 and one["data"])
    return written // 2 // _PAGE * _PAGE
