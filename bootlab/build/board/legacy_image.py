"""U-Boot's legacy image: 64 bytes in front of a kernel or script that say what it is and where it goes.

Bytes in, bytes out. The form is `legacy_img_hdr` of U-Boot's include/image.h, what `mkimage -C none` writes; its time
is zero, so that the same content is the same image.
"""

import struct
from zlib import crc32

_MAGIC = 0x27051956
_HEADER = struct.Struct(">7I4B32s")
_LINUX, _UNCOMPRESSED = 5, 0
_ARCHITECTURES = {"armv7": 2, "riscv64": 26}
_KERNEL, _SCRIPT = 2, 6


def kernel_image(kernel: bytes, address: int) -> bytes:
    """Return the image of an arm kernel that is loaded to `address` and entered there."""
    return _image(kernel, _KERNEL, "armv7", address)


def script_image(text: str, arch: str) -> bytes:
    """Return the image of a script for the shell of a U-Boot for `arch` (`armv7`, `riscv64`)."""
    content = text.encode()
    # A script comes after a list of sizes that ends with a zero.
    return _image(struct.pack(">II", len(content), 0) + content, _SCRIPT, arch, 0)


def _image(content: bytes, kind: int, arch: str, address: int) -> bytes:
    def header(checksum: int) -> bytes:
        words = (_MAGIC, checksum, 0, len(content), address, address, crc32(content))
        return _HEADER.pack(*words, _LINUX, _ARCHITECTURES[arch], kind, _UNCOMPRESSED, b"bootlab")

    return header(crc32(header(0))) + content
