"""A kernel of fifty bytes: by port 0x80 and the serial line it says that it is up, and then it ends as it is told."""

import struct

OFF, RESET, STAY = (0x34, 0x600), (0xFE, 0x64), (0x61, 0x80)
"""What is written to which port: S5 to Cloud Hypervisor's ACPI, a reset to the keyboard's controller, one more code."""
CODE = 0x60
SAYS = b"bootlab: mark ready\r\n"
_AT = 0x100000
_LINKED = 0xFFFFFFFF80000000
"""Where a kernel of x86-64 lives."""


def tiny_kernel(end: tuple[int, int]) -> bytes:
    """Return an ELF file that is entered by PVH: protected mode, no paging."""
    value, port = end
    head = bytes([0xB0, CODE, 0xE6, 0x80])  # mov al, CODE; out 0x80, al
    # mov esi, SAYS; next: lodsb; test al, al; jz end; mov dx, 0x3f8; out dx, al; jmp next
    loop = bytes([0xAC, 0x84, 0xC0, 0x74, 0x07, 0x66, 0xBA, 0xF8, 0x03, 0xEE, 0xEB, 0xF4])
    # mov al, VALUE; mov dx, PORT; out dx, al; hlt; jmp to the hlt
    tail = bytes([0xB0, value, 0x66, 0xBA, *port.to_bytes(2, "little"), 0xEE, 0xF4, 0xEB, 0xFD])
    code_bytes = len(head) + 5 + len(loop) + len(tail)
    code = head + b"\xbe" + (_AT + code_bytes).to_bytes(4, "little") + loop + tail + SAYS + b"\0"
    # XEN_ELFNOTE_PHYS32_ENTRY: where it is entered.
    note = struct.pack("<III4sQ", 4, 8, 18, b"Xen\0", _AT)
    note_at, code_at = 64 + 2 * 56, 0x1000
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    elf = ident + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, _AT, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    elf += struct.pack("<IIQQQQQQ", 1, 7, code_at, _LINKED + _AT, _AT, len(code), len(code), 0x1000)
    elf += struct.pack("<IIQQQQQQ", 4, 4, note_at, 0, 0, len(note), len(note), 4)
    return (elf + note).ljust(code_at, b"\0") + code
