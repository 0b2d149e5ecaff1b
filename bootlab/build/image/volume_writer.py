"""Files written into, and removed from, a partition of a copy of an image: FAT by mtools, ext4 by debugfs.

Neither mounts anything. Where a partition has no room, the error says which one, what was needed and what is free.
"""

import re
import shlex
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from bootlab.build.formats import ext4
from bootlab.build.formats.partitions import ESP
from bootlab.build.image.fat import put_into_fat
from bootlab.build.image.reading import ImageReader, Volume
from bootlab.build.image.room import HINT, no_room
from bootlab.errors import BootlabError, InputError
from bootlab.process import run
from bootlab.system.disk_image import written_mode

_DEADLINE_S = 1800.0
_SUPERBLOCK, _INCOMPATIBLE, _RECOVER = 1024, 0x60, 4
_EXT4_FREE = re.compile(r"^(Free blocks|Free inodes|Block size): +(\d+)", re.MULTILINE)
_NO_ROOM = ("could not allocate", "no free space", "no space left")


class VolumeWriter:
    """Writes into the partitions of `copy`, which is raw. `scratch` is a folder for what is about to be written."""

    def __init__(self, copy: Path, scratch: Path) -> None:
        self._copy = copy
        self._scratch = scratch

    def put(self, reader: ImageReader, volume: Volume, path: str, data: bytes) -> None:
        """Write a file in place of the one that may be there; the folder of a new one has to be there.

        On ext4 it is the owner's to write and everybody's to read, and a script everybody's to execute.
        `reader` reads the same copy. Raises InputError where the partition is full, its file system cannot be written,
        or its journal has changes that are due; MissingTool (mtools, e2fsprogs).
        """
        content = self._scratch / "content"
        content.write_bytes(data)
        if volume.kind == "FAT":
            put_into_fat(f"{self._copy}@@{volume.partition.start}", path, content, f"image: {_named(volume)}")
        elif volume.kind == "ext4":
            self._put_into_ext4(reader, volume, path, content)
        else:
            raise InputError(f"image: {path} is on {volume.kind}, which bootlab reads and cannot write: ext4 or FAT")

    def make_folders(self, volume: Volume, path: str) -> None:
        """Make the folders of an ext4 that a file at `path` lies in, where they are not there. Raises as `put`."""
        self._expect_clean(volume)
        parts = _absolute(path).split("/")[1:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/" + "/".join(parts[:depth])
            there = self._look(volume, folder)
            if "Type: directory" in there:
                continue
            if "Type: " in there:
                raise InputError(
                    f"image: {path}: {folder} is a link on it, or a file",
                    hint="name the file where it lies: /usr/lib/NAME, say, and not /lib/NAME",
                )
            if complaints := self._change_ext4(volume, [f"mkdir {_quoted(folder)}"]):
                if _is_full(complaints):
                    raise no_room(f"image: {_named(volume)}", folder, 1, self._free_in_ext4(volume)[0])
                raise BootlabError(f"image: {folder} could not be made: {'; '.join(complaints[:3])}")

    def remove(self, volume: Volume, paths: Sequence[str], trouble: str) -> None:
        """Remove files of an ext4. Raises BootlabError, which begins with `trouble`, and InputError as `put`."""
        self._expect_clean(volume)
        complaints = self._change_ext4(volume, [f"rm {_quoted(_absolute(path))}" for path in paths])
        if complaints:
            raise BootlabError(f"image: {trouble}: {'; '.join(complaints[:3])}")

    def _put_into_ext4(self, reader: ImageReader, volume: Volume, path: str, content: Path) -> None:
        self._expect_clean(volume)
        name = _absolute(path)
        free, inodes = self._free_in_ext4(volume)
        mode = f"0{stat.S_IFREG | written_mode(content.read_bytes()):o}"
        lines = [f"write {_quoted(str(content))} {_quoted(name)}", f"sif {_quoted(name)} mode {mode}"]
        old = reader.read(volume, path)
        there = self._look(volume, name)
        if "Type: directory" in there:
            raise InputError(f"image: {name}: is a folder on it", hint="name the file that is to be in it")
        # A link is replaced itself, also one that leads nowhere.
        is_there = "Type: " in there
        if is_there:
            lines.insert(0, f"rm {_quoted(name)}")
        complaints = self._change_ext4(volume, lines)
        if _is_full(complaints):
            where = f"image: {_named(volume)}"
            if not is_there and inodes == 0:
                raise InputError(f"{where} has no room for {name}: no more files than it has (inodes)", hint=HINT)
            room = None if free is None else free + len(old or b"")
            raise no_room(where, name, content.stat().st_size, room)
        if complaints:
            raise BootlabError(f"image: {name} could not be written: {'; '.join(complaints[:3])}")

    def _look(self, volume: Volume, path: str) -> str:
        """Return what debugfs says of a path, of a link what it says of the link."""
        place = f"{self._copy}?offset={volume.partition.start}"
        told = run(["debugfs", "-R", f"stat {_quoted(path)}", place], package="e2fsprogs", deadline_s=_DEADLINE_S)
        return told.text

    def _free_in_ext4(self, volume: Volume) -> tuple[int | None, int | None]:
        place = f"{self._copy}?offset={volume.partition.start}"
        told = run(["debugfs", "-R", "stats -h", place], package="e2fsprogs", deadline_s=_DEADLINE_S).text
        found = {name: int(value) for name, value in _EXT4_FREE.findall(told)}
        if "Free blocks" not in found or "Block size" not in found:
            return None, None
        return found["Free blocks"] * found["Block size"], found.get("Free inodes")

    def _change_ext4(self, volume: Volume, lines: Sequence[str]) -> list[str]:
        """Have debugfs run commands, and return what it complains of: it goes on behind an error."""
        script = self._scratch / "debugfs"
        script.write_text("".join(f"{line}\n" for line in lines), errors="surrogateescape")
        place = f"{self._copy}?offset={volume.partition.start}"
        environment = {"E2FSPROGS_FAKE_TIME": str(ext4.DATE)}
        done = run(["debugfs", "-w", "-f", script, place], env=environment, package="e2fsprogs", deadline_s=_DEADLINE_S)
        return _complaints(done.stderr.decode(errors="replace").splitlines())

    def _expect_clean(self, volume: Volume) -> None:
        with self._copy.open("rb") as file:
            file.seek(volume.partition.start + _SUPERBLOCK + _INCOMPATIBLE)
            features = int.from_bytes(file.read(4), "little")
        if features & _RECOVER:
            raise InputError(
                f"image: partition {volume.partition.number} was not unmounted: its journal has changes that are due",
                hint="boot it and power it off in order, then change what its loader is told",
            )


def _named(volume: Volume) -> str:
    partition = volume.partition
    what = "the EFI system partition, " if partition.type == ESP else ""
    return f"partition {partition.number} ({what}{volume.kind}, {partition.size >> 20:,} MiB)"


def _is_full(complaints: Sequence[str]) -> bool:
    return any(words in line.lower() for line in complaints for words in _NO_ROOM)


def _complaints(lines: Iterable[str]) -> list[str]:
    # The first line is debugfs' version.
    return [line for line in lines if line and not line.startswith("debugfs ")]


def _absolute(path: str) -> str:
    return "/" + path.lstrip("/")


def _quoted(word: str) -> str:
    return shlex.quote(word) if '"' in word else f'"{word}"'
