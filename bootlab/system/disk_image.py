"""A whole disk, as a cloud or an installer has it: the machine boots it by its own firmware and bootloader."""

import re
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from bootlab.system.disk_model import AnyDiskModel
from bootlab.system.machine import Attachment
from bootlab.system.part import TEXT, Part

MOST_LIVES: Final = 20
"""How many lives a disk image may have: each is a boot, and what it wrote is kept."""
# No double quotes and nothing that does not print: debugfs reads the path. A name has 255 letters at most.
_PLACE: Final = re.compile(r"(?:/[!#-.0-~]{1,255})+")
_LONGEST_PLACE: Final = 4095
_SHOWN: Final = 80
_ATTACHED = (Attachment.VIRTIO, Attachment.NVME, Attachment.SCSI, Attachment.CD)


def written_mode(content: bytes) -> int:
    """Return the mode of a file that is written into a root: everybody's to read, and a script's to execute."""
    return 0o755 if content.startswith(b"#!") else 0o644


class DiskImage(Part):
    """A disk image by path, raw, qcow2 or ISO, or a unified kernel image (.efi). Never written to."""

    path: Annotated[Path, TEXT]
    attach: Annotated[Attachment, TEXT] = Attachment.VIRTIO
    menu_s: int | None = Field(default=None, ge=0, le=3600, exclude_if=lambda value: value is None)
    """How long its bootloader shows its menu; None: as it is. What follows is changed on a copy of the image."""
    loader: Literal["uki", "efi-stub", "direct"] | None = Field(default=None, exclude_if=lambda value: value is None)
    """`uki`: UEFI starts kernel, initramfs and words as one file, with systemd's stub; `efi-stub`: it starts the kernel
    itself, by a boot entry that has its words; `direct`: QEMU loads kernel, initramfs and words of the image itself
    (-kernel), and firmware starts them; None: as it is."""
    without: tuple[str, ...] = Field(default=(), strict=False, exclude_if=lambda value: not value)
    """Debian packages that are taken out of its root, with their files; scripts of theirs are not run."""
    keep_modules: tuple[str, ...] | None = Field(default=None, strict=False, exclude_if=lambda value: value is None)
    """Modules that stay in the initramfs that its loader boots, with those that they need; None: as it is."""
    files: dict[str, str] = Field(default={}, exclude_if=lambda value: not value)
    """Path in its root -> text of the file that is written there, in place of one that may be there."""
    order: bool = Field(default=True, exclude_if=lambda value: value is True)
    """Whether the firmware is told to boot from this disk first (QEMU's bootindex)."""
    life: int = Field(default=1, ge=1, le=MOST_LIVES, exclude_if=lambda value: value == 1)
    """Which of the machine's boots this is: 2 is the first one after a life that was powered off in order."""
    life_s: int = Field(default=120, ge=1, le=86400, exclude_if=lambda value: value == 120)
    """When each life before this one was powered off: seconds of the virtual clock since its power-on."""
    model: AnyDiskModel | None = Field(default=None, exclude_if=lambda value: value is None)
    """What the disk takes on the virtual clock, of whoever reads it: firmware, bootloader, kernel."""

    @model_validator(mode="after")
    def _can_be_booted_from(self) -> "DiskImage":
        if self.attach not in _ATTACHED:
            names = ", ".join(one.value for one in _ATTACHED)
            raise ValueError(f"attach {self.attach.value!r}: an image is on {names}")
        for path in self.files:
            if not _PLACE.fullmatch(path) or len(path) > _LONGEST_PLACE or {".", ".."} & set(path.split("/")):
                raise ValueError(f"files {path[:_SHOWN]!r}: expected the whole path of a file in its root: /etc/motd")
        if self.loader == "direct" and self.menu_s is not None:
            raise ValueError('menu_s is of a bootloader, and loader "direct" starts none')
        if self.model is not None and self.attach is not Attachment.VIRTIO:
            raise ValueError(f'model is of a disk on virtio, and attach is "{self.attach.value}"')
        return self
