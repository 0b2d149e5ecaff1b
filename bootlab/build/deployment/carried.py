"""What a change becomes where a system is really built: files, what reads each of them, and what no file carries."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final

ROOT: Final = PurePosixPath("root")
"""Files below it have their place in the system's root."""
MADE_BY: Final = "# Written by bootlab apply.\n"


class Builder(StrEnum):
    """Who builds the system, and so whose forms the files have."""

    DEBIAN = "debian"
    """A distribution: GRUB, initramfs-tools, dracut, mkosi, a package and a script for the system itself."""
    BUILDROOT = "buildroot"
    YOCTO = "yocto"


@dataclass(slots=True)
class Carried:
    """What a change becomes."""

    files: dict[PurePosixPath, str] = field(default_factory=dict)
    """Path below the folder that is written -> text."""
    copies: dict[PurePosixPath, Path] = field(default_factory=dict)
    """Path below that folder -> a file of the user's that goes there: a patch."""
    uses: dict[PurePosixPath, str] = field(default_factory=dict)
    """File -> who reads it, or what is done with it."""
    by_hand: dict[str, str] = field(default_factory=dict)
    """Key -> what no file carries: both values, and what to do."""
    words: list[str] = field(default_factory=list)
    """Words that the kernel's command line gets."""
    lost_words: list[str] = field(default_factory=list)
    """Words that it loses."""

    @property
    def in_root(self) -> dict[PurePosixPath, str]:
        """Return the files that have a place in the system's root: path there -> text."""
        return {path.relative_to(ROOT): text for path, text in self.files.items() if path.is_relative_to(ROOT)}

    @property
    def remakes_initramfs(self) -> bool:
        """Whether the system's initramfs has to be made again."""
        return any("initramfs-tools" in path.parts or "dracut.conf.d" in path.parts for path in self.files)

    def add(self, path: PurePosixPath, text: str, use: str) -> None:
        """Add text to a file, which begins with where it comes from."""
        self.files[path] = self.files.get(path, MADE_BY) + text
        self.uses.setdefault(path, use)
