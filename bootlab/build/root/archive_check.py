"""Whether a finished initramfs is whole, told before a boot spends minutes on a truncated one.

Follows the kernel's own rules: any number of cpio archives, each plain or compressed, with zero bytes between them.
What has another form (a file system image, an unknown compression) is not judged.
"""

from bootlab.build.formats import cpio
from bootlab.build.formats.compress import decompress
from bootlab.errors import InputError


def entries(data: bytes) -> list[cpio.Entry] | None:
    """Return every entry of the initramfs `data`, in order; None when it has a form that is not known here.

    Raises InputError when it is cut short or damaged.
    """
    found: list[cpio.Entry] = []
    offset = _past_zeros(data, 0)
    if offset == len(data):
        raise InputError("empty, or nothing but zero bytes")
    while offset < len(data):
        if data.startswith(cpio.MAGICS, offset):
            more, offset = cpio.read(data, offset)
            found += more
        else:
            unpacked = decompress(data[offset:])
            if unpacked is None:
                return None
            content, length = unpacked
            inner = entries(content)
            if inner is None:
                return None
            found += inner
            offset += length
        offset = _past_zeros(data, offset)
    return found


def _past_zeros(data: bytes, offset: int) -> int:
    return len(data) - len(data[offset:].lstrip(b"\0"))
