"""A hibernation image as Linux 6.12 writes it into a swap area (kernel/power/swap.c, snapshot.c), and wrong ones."""

import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import lz4.block

PAGE = 4096
MAP_ENTRIES = PAGE // 8 - 1
SIGNATURE = b"S1SUSPEND\0"
SF_CRC32, SF_LZ4 = 4, 16
ZERO = 1 << 31
"""Of a PFN: its page is of zeros, and not in the image."""
_PIECE = 32 * PAGE
_END = 0xFFFFFFFF


def pack(data: bytes) -> bytes:
    """Return a block of LZ4."""
    return bytes(lz4.block.compress(data, store_size=False))


def kernel_crc(data: bytes) -> int:
    """Return Linux' crc32_le() from 0 on."""
    return zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF


@dataclass
class ComposedImage:
    """An image of the memory. `pages`: PFN -> its page; one of zeros is told of and not written."""

    pages: dict[int, bytes]
    kernel: tuple[str, str] = ("6.12.117", "#1 Thu")
    flags: int = SF_CRC32 | SF_LZ4
    crc_off_by: int = 0
    said_pages: tuple[int, int] | None = None
    """In the place of the true numbers: of all its pages, and of those without the list of PFNs."""
    packed: Callable[[bytes], bytes] = pack
    size_of: Callable[[bytes], int] = len
    """What a packed piece says that it has."""
    extra_pfns: Sequence[int] = field(default_factory=tuple)

    def into(self, swap: bytearray) -> None:
        """Write it into a swap area, from its second page on, and its signature behind the area's header."""
        stored = [page for page in self.pages.values() if page.strip(b"\0")]
        pfns = [pfn if page.strip(b"\0") else pfn | ZERO for pfn, page in self.pages.items()]
        numbers = struct.pack(f"<{len(pfns) + len(self.extra_pfns) + 1}I", *pfns, *self.extra_pfns, _END)
        meta = numbers + b"\xff" * (-len(numbers) % PAGE)
        data = meta + b"".join(stored)
        all_pages, image_pages = self.said_pages or (len(data) // PAGE + 1, len(stored))
        release, version = (word.encode().ljust(65, b"\0") for word in self.kernel)
        info = bytes(130) + release + version + bytes(132)
        info = info.ljust(-(-len(info) // 4) * 4, b"\0") + struct.pack("<6I", 0, 0, 1, image_pages, all_pages, 0)
        stream = info.ljust(PAGE, b"\0")
        for at in range(0, len(data), _PIECE):
            block = self.packed(data[at : at + _PIECE])
            piece = struct.pack("<I", self.size_of(block)) + block
            stream += piece + bytes(-len(piece) % PAGE)
        self._write(stream, swap, kernel_crc(data) + self.crc_off_by)

    def _write(self, stream: bytes, swap: bytearray, crc: int) -> None:
        free, map_at, entries = 2, 1, list[int]()
        for at in range(0, len(stream), PAGE):
            swap[free * PAGE : (free + 1) * PAGE] = stream[at : at + PAGE]
            entries.append(free)
            free += 1
            if len(entries) == MAP_ENTRIES:
                swap[map_at * PAGE : (map_at + 1) * PAGE] = struct.pack(f"<{MAP_ENTRIES + 1}Q", *entries, free)
                map_at, free, entries = free, free + 1, []
        swap[map_at * PAGE : (map_at + 1) * PAGE] = struct.pack(f"<{len(entries)}Q", *entries).ljust(PAGE, b"\0")
        before = swap[PAGE - 10 : PAGE]
        head = struct.pack("<IIQI", 0, crc & 0xFFFFFFFF, 1, self.flags) + before + SIGNATURE
        swap[PAGE - len(head) : PAGE] = head
