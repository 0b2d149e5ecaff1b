"""How much of what was handed over is read: an archive of a few KB can say that it holds more than any machine."""

from dataclasses import dataclass
from typing import Final

from bootlab.errors import InputError

MOST_BYTES: Final = 4 << 30
"""Of all files together: they are in memory while a file system is made of them."""
MOST_FILES: Final = 1_000_000
MOST_UNPACKED: Final = 16 << 30
"""Of all that is unpacked on the way, files that a later layer replaces among it."""
MOST_JSON: Final = 8 << 20
"""Of one document of a container image."""


@dataclass(slots=True)
class Budget:
    """What may still be read of one root."""

    where: str
    """The archive or folder, for messages."""
    bytes: int = MOST_BYTES
    files: int = MOST_FILES
    unpacked: int = MOST_UNPACKED

    def take_file(self, size: int) -> None:
        """Count one file. Raises InputError when it is one, or its bytes are, too many."""
        self.files -= 1
        self.bytes -= size
        if self.files < 0:
            raise InputError(f"{self.where}: more than {MOST_FILES:,} files, which are not read here")
        if self.bytes < 0:
            raise InputError(
                f"{self.where}: more than {MOST_BYTES >> 30} GiB of files, which are not read here",
                hint="make an image of a file system of them, and name it in a system file: rootfs.path",
            )

    def take_unpacked(self, size: int) -> None:
        """Count bytes that were unpacked. Raises InputError when they are too many."""
        self.unpacked -= size
        if self.unpacked < 0:
            raise InputError(
                f"{self.where}: unpacks to more than {MOST_UNPACKED >> 30} GiB, and is read no further",
                hint="an archive that small with that much in it is made to fill disks",
            )
