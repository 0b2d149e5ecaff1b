"""A process whose memory comes from a page server, as Firecracker's does: `python touching.py SOCKET PAGE...`.

It makes memory of 64 pages, hands it to whoever listens, touches the pages that it was told, and says what is in them.
"""

import ctypes
import fcntl
import json
import mmap
import os
import socket
import struct
import sys
import time

PAGES = 64
# linux/userfaultfd.h; of user mode alone, which needs no privilege.
SYSCALL, USER_MODE_ONLY = 323, 1
API, REGISTER, MISSING = 0xC018AA3F, 0xC020AA00, 1


def main(place: str, pages: list[int]) -> None:
    memory = mmap.mmap(-1, PAGES * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    anchor = ctypes.c_char.from_buffer(memory)
    address = ctypes.addressof(anchor)
    uffd = ctypes.CDLL(None, use_errno=True).syscall(SYSCALL, os.O_CLOEXEC | os.O_NONBLOCK | USER_MODE_ONLY)
    if uffd < 0:
        sys.exit(f"userfaultfd: {os.strerror(ctypes.get_errno())}")
    fcntl.ioctl(uffd, API, bytearray(struct.pack("=QQQ", 0xAA, 0, 0)))
    fcntl.ioctl(uffd, REGISTER, bytearray(struct.pack("=QQQQ", address, PAGES * 4096, MISSING, 0)))
    layout = {"base_host_virt_addr": address, "size": PAGES * 4096, "offset": 0, "page_size": 4096}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.connect(place)
        socket.send_fds(line, [json.dumps([layout]).encode()], [uffd])
    # What comes ahead is there first, as Firecracker is resumed only then.
    time.sleep(0.3)
    print(*(memory[page * 4096] for page in pages), flush=True)
    del anchor


if __name__ == "__main__":
    main(sys.argv[1], [int(word) for word in sys.argv[2:]])
