"""Boot entries of UEFI: their bytes, and the variables of a firmware that has one."""

import struct
import uuid

import pytest

from bootlab.build.formats.partitions import ESP, Partition
from bootlab.build.image.boot_entry import boot_entry, with_boot_entry
from bootlab.errors import InputError

OWN = uuid.UUID("b0071ab0-0000-4000-8000-00000000010f")
PARTITION = Partition(15, 4 << 20, 124 << 20, ESP, OWN)
HEADER = 60


def store(size: int = 0x1000, *, before: bytes = b"") -> bytes:
    volume = bytes(48) + struct.pack("<H", 0x48)
    guid = uuid.UUID("aaf32c78-947b-439a-a180-2e144ec37792").bytes_le
    head = volume.ljust(0x48, b"\0") + guid + struct.pack("<IBB6x", size, 0x5A, 0xFE)
    return (head + before).ljust(0x48 + size, b"\xff") + b"\xff" * 0x1000


def variables(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Return state and content of each variable by its name, a later one of the name in the place of the first."""
    found, at = {}, 0x48 + 28
    while data[at : at + 2] == b"\xaa\x55":
        name_size, size = struct.unpack_from("<II", data, at + 36)
        name = data[at + HEADER : at + HEADER + name_size].decode("utf-16-le").rstrip("\0")
        found[name] = (data[at + 2], data[at + HEADER + name_size :][:size])
        at = -(-(at + HEADER + name_size + size) // 4) * 4
    return found


def test_an_entry_names_partition_path_and_words() -> None:
    entry = boot_entry(PARTITION, "EFI/BOOT/VMLINUZ.EFI", "Linux", "root=/dev/vda1 ro")
    attributes, length = struct.unpack_from("<IH", entry)
    title = "Linux\0".encode("utf-16-le")
    path, words = entry[6 + len(title) :][:length], entry[6 + len(title) + length :]
    assert attributes == 1 and entry[6:].startswith(title)
    assert path[:24] == struct.pack("<BBHIQQ", 4, 1, 42, 15, 8192, 124 << 11)
    assert path[24:40] == OWN.bytes_le and path[40:42] == b"\2\2"
    assert path[46:-4].decode("utf-16-le") == "\\EFI\\BOOT\\VMLINUZ.EFI\0" and path[-4:] == b"\x7f\xff\4\0"
    assert words.decode("utf-16-le") == "root=/dev/vda1 ro\0"


def test_it_is_all_that_the_firmware_boots_and_the_rest_stays() -> None:
    first = with_boot_entry(store(), b"first entry")
    again = with_boot_entry(first, b"another")
    assert {name: data for name, (_, data) in variables(again).items()} == {
        "Boot0B07": b"another",
        "BootOrder": b"\x07\x0b",
    }
    assert again.count("BootOrder".encode("utf-16-le")) == 2, "the old one is marked as deleted, and stays"
    at = again.find(b"first entry") - len("Boot0B07\0".encode("utf-16-le")) - HEADER
    assert first[at + 2] == 0x3F and again[at + 2] == 0x3D
    assert len(again) == len(store()) and again[-0x1000:] == store()[-0x1000:]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "of no form"),
        (bytes(0x10000), "of no form"),
        (store()[:0x800], "of no form"),
        (store(120), "no room for a boot entry"),
    ],
)
def test_variables_that_cannot_be_written(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        with_boot_entry(data, b"entry")


def test_a_partition_that_an_entry_cannot_name() -> None:
    with pytest.raises(InputError, match="partition 1 is in no GPT"):
        boot_entry(Partition(1, 0, 1 << 20), "EFI/BOOT/VMLINUZ.EFI", "Linux", "")
