"""An image on a disk that is larger than it, as a cloud gives a machine: what grows a disk at boot has work to do.

The partition table is not touched: the copy of it at the image's end stays where it was, and is not the disk's last
sector any more.
"""

from pathlib import Path

from bootlab.build.image.image_file import QCOW2, open_image
from bootlab.errors import InputError
from bootlab.process import run

_DEADLINE_S = 60.0


def grow_disk(image: Path, format: str, size: int) -> None:
    """Give the disk in an image file `size` bytes. Raises InputError where it has more, MissingTool (qemu-img)."""
    there = open_image(image).bytes
    if there > size:
        raise InputError(
            f"--disk {size >> 20}: the image has {there:,} bytes already", hint=f"--disk {-(-there >> 20)} at least"
        )
    if format == QCOW2:
        run(["qemu-img", "resize", "-f", QCOW2, image, str(size)], deadline_s=_DEADLINE_S, package="qemu-utils")
        return
    with image.open("r+b") as file:
        file.truncate(size)
