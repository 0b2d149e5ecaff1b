"""Reads files out of a disk image with GRUB's own file systems, without mounting it: grub-fstest of grub-common.

It knows what GRUB can boot from: ext2 to ext4, FAT, btrfs, XFS, ISO 9660, squashfs and more, on GPT and MBR. A qcow2
image is unpacked into scratch space first, holes and all.
"""

import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import BinaryIO, Self

from bootlab.build.formats.el_torito import BootPrograms, read_boot_programs
from bootlab.build.formats.partitions import ESP, SECTOR, Partition, PartitionTable, read_table
from bootlab.build.formats.qcow2 import MAGIC as QCOW2_MAGIC
from bootlab.build.image.image_file import ISO, QCOW2, ImageFile
from bootlab.errors import InputError
from bootlab.process import ProgramFailed, require_program, run

_PACKAGE = "grub-common"
_DEADLINE_S = 300.0
_CPU_S = 20
"""A GB takes a few seconds. A damaged file system leads GRUB's reader round in a circle for ever."""
_CONVERT_DEADLINE_S = 1800.0
_PROBE = 0x11000
_LEAKS_ALONE = 3
_LARGEST = 1 << 30
_PIECE = 1 << 22
_KIND = re.compile(rb"loop[01](?:,\w+)?: Filesystem type ([\w*+-]+)(?:.*?UUID ([0-9A-Fa-f-]+))?")
_LISTED = re.compile(r"^(?:DIR|\d+) +(?:\d{14} )?(.*?)(/?)$")
_KINDS = {"ext*": "ext4", "fat": "FAT"}


@dataclass(frozen=True, slots=True)
class Volume:
    """A partition, or all of an image without any: what is on it. `kind`: `ext4`, `btrfs`, `LUKS`, `unknown`, ..."""

    partition: Partition
    place: str
    """As GRUB names it: `loop0,gpt1`."""
    kind: str
    uuid: str
    readable: bool


class ImageReader:
    """Use as a context manager. `scratch` is a folder with room for the image, unpacked, where it is qcow2."""

    def __init__(self, image: ImageFile, scratch: Path) -> None:
        self._image = image
        self._scratch = scratch
        self.table: PartitionTable | None = None
        self.boot_programs: BootPrograms | None = None
        """Of an ISO image: what its catalogue has firmware start."""
        self.volumes: tuple[Volume, ...] = ()

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="bootlab-image-", dir=self._scratch)
        try:
            # GRUB would take a comma or a bracket in a name for its own.
            self.disk = Path(self._folder.name) / "disk"
            if self._image.format == QCOW2:
                _unpack_qcow2(self._image, self.disk)
            else:
                os.symlink(self._image.path.resolve(), self.disk)
            self._disks = [self.disk]
            if self._image.format == ISO:
                self._read_catalogue()
            else:
                self._read_table()
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    def read(self, volume: Volume, path: str) -> bytes | None:
        """Return a file's bytes, None where there is no such file. Links are followed.

        Raises InputError for one larger than 1 GiB, and for a file system that leads in a circle.
        """
        out = Path(self._folder.name) / "file"
        out.unlink(missing_ok=True)
        told = self._ask(volume, f"/{path.lstrip('/')}", "cp", f"({volume.place}){_absolute(path)}", out)
        return out.read_bytes() if told is not None and out.is_file() else None

    def list_folder(self, volume: Volume, path: str) -> tuple[list[str], list[str]]:
        """Return the names of the files and of the folders in a folder, sorted; none where it is not there."""
        where = f"({volume.place}){_absolute(path).rstrip('/')}/"
        text = self._ask(volume, f"/{path.strip('/')}", "ls", "--", "-l", where)
        files: list[str] = []
        folders: list[str] = []
        for line in (text or "").splitlines():
            if (found := _LISTED.match(line)) and found[1] not in (".", ".."):
                (folders if found[2] or line.startswith("DIR") else files).append(found[1])
        return sorted(files), sorted(folders)

    @property
    def _fstest(self) -> list[str | Path]:
        limits = (f"--cpu={_CPU_S}", f"--fsize={_LARGEST}", "--core=0")
        return ["prlimit", *limits, "grub-fstest", f"--diskcount={len(self._disks)}", *self._disks]

    def _ask(self, volume: Volume, path: str, *words: str | Path) -> str | None:
        """Return what grub-fstest says; None where it finds nothing. `path`: for the messages of what is raised."""
        try:
            return run([*self._fstest, *words], deadline_s=_DEADLINE_S).text
        except ProgramFailed as error:
            self._expect_an_end(volume.partition, path, error)
            return None

    def _expect_an_end(self, partition: Partition, path: str, error: ProgramFailed) -> None:
        where = f"{self._image.path}: {path!r} of partition {partition.number}"
        if error.exit_status == -signal.SIGXFSZ:
            raise InputError(f"{where}: larger than {_LARGEST >> 30} GiB, which nothing that boots is") from error
        if error.exit_status in (None, -signal.SIGXCPU, -signal.SIGKILL):
            raise InputError(
                f"{where}: not read after {_CPU_S} s of work: its file system is damaged",
                hint="fsck of the partition says more; copy or download the image again",
            ) from error

    def _read_catalogue(self) -> None:
        # Partitions that an ISO has besides, for a stick, hold the same once more.
        with self.disk.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            self.boot_programs = read_boot_programs(file, size)
            whole = Partition(0, 0, size)
            self.volumes = (self._volume(whole, "loop0", file.read(_PROBE)),)
            if self.boot_programs.uefi is not None:
                start, length = self.boot_programs.uefi
                # GRUB knows no partition there: to it that is a disk of its own.
                esp = Path(self._folder.name) / "esp"
                _copy_piece(file, start, length, esp)
                self._disks.append(esp)
                file.seek(start)
                found = self._volume(Partition(1, start, length, ESP), "loop1", file.read(min(_PROBE, length)))
                self.volumes = (*self.volumes, found)

    def _read_table(self) -> None:
        path = self._image.path
        with self.disk.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            try:
                self.table = read_table(file)
            except InputError as error:
                raise InputError(f"{path}: {error.message}", hint=error.hint or "copy or download it again") from error
            table = self.table
            partitions = table.partitions if table is not None else (Partition(0, 0, size),)
            for one in partitions:
                if one.end > size:
                    raise InputError(
                        f"{path}: cut off: partition {one.number} ends at byte {one.end:,}, and the image has {size:,}",
                        hint="copy or download it again",
                    )
            heads = []
            for one in partitions:
                file.seek(one.start)
                heads.append(file.read(min(_PROBE, one.size)))
        scheme = "" if table is None else ",gpt" if table.scheme == "gpt" else ",msdos"
        self.volumes = tuple(
            self._volume(one, f"loop0{scheme}{one.number if scheme else ''}", first)
            for one, first in zip(partitions, heads, strict=True)
        )

    def _volume(self, partition: Partition, place: str, head: bytes) -> Volume:
        for at, magic, kind in (
            (0, b"LUKS\xba\xbe", "LUKS"),
            (SECTOR, b"LABELONE", "LVM"),
            (4086, b"SWAPSPACE2", "swap"),
            (3, b"-FVE-FS-", "BitLocker"),
        ):
            if head[at : at + len(magic)] == magic:
                return Volume(partition, place, kind, "", readable=False)
        require_program("grub-fstest", package=_PACKAGE)
        try:
            output = run([*self._fstest, "ls", "--", "-l", f"({place})"], deadline_s=_DEADLINE_S).stdout
        except ProgramFailed as error:
            self._expect_an_end(partition, "/", error)
            output = error.stdout.encode()
        found = _KIND.search(output)
        if found is None:
            return Volume(partition, place, "unknown", "", readable=False)
        kind = found[1].decode()
        return Volume(partition, place, _KINDS.get(kind, kind), (found[2] or b"").decode(), readable=True)


def _copy_piece(source: BinaryIO, start: int, length: int, out: Path) -> None:
    # Where a catalogue does not say how long it is, it is all the rest of a DVD.
    source.seek(start)
    with out.open("wb") as target:
        for at in range(0, length, _PIECE):
            target.write(source.read(min(_PIECE, length - at)))


def _unpack_qcow2(image: ImageFile, out: Path) -> None:
    for path in (image.path, *image.chain):
        with path.open("rb") as file:
            if file.read(len(QCOW2_MAGIC)) != QCOW2_MAGIC:
                continue
        try:
            # What is behind the end of a file that is cut off would be read as zeros.
            run(
                ["qemu-img", "check", "-f", QCOW2, path.absolute()],
                deadline_s=_CONVERT_DEADLINE_S,
                package="qemu-utils",
            )
        except ProgramFailed as error:
            # Lost room, which a machine leaves that was switched off, costs nothing else.
            if error.exit_status != _LEAKS_ALONE:
                raise _damaged(image, error) from error
    argv: list[str | Path] = ["qemu-img", "convert", "-f", QCOW2, "-O", "raw", image.path.absolute(), out]
    try:
        run(argv, deadline_s=_CONVERT_DEADLINE_S, package="qemu-utils")
    except ProgramFailed as error:
        raise _damaged(image, error) from error


def _damaged(image: ImageFile, error: ProgramFailed) -> InputError:
    told = [line for line in f"{error.stdout}\n{error.stderr}".splitlines() if line.strip()]
    what = next(
        (line for line in told if "ERROR" in line or "error" in line.lower()), told[-1] if told else "no message"
    )
    return InputError(
        f"{image.path}: qemu-img finds it cut off or damaged: {what.strip()[:200]}",
        hint="copy or download it again; qemu-img check says more",
    )


def _absolute(path: str) -> str:
    return "/" + path.lstrip("/")
