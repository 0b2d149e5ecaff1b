"""What is done to the disks of a machine that hibernated, by QEMU's own tools."""

import subprocess
import zlib
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.root.left_disks import make_swap, place_of, spoil_disks
from bootlab.errors import InputError
from bootlab.sources import EXAMPLES
from bootlab.system import Fault, read_system

SIZE = 1 << 20
NOTE_AT = SIZE - 8192


def overlay(folder: Path, pieces: dict[int, bytes]) -> Path:
    """Return what a guest wrote to a disk: these bytes, at these places."""
    folder.mkdir()
    (folder / "raw").write_bytes(bytes(SIZE))
    with (folder / "raw").open("r+b") as file:
        for at, data in pieces.items():
            file.seek(at)
            file.write(data)
    path = folder / "disk0.qcow2"
    subprocess.run(["qemu-img", "convert", "-O", "qcow2", folder / "raw", path], check=True)
    return path


def content(path: Path) -> bytes:
    """Return all that is on a disk."""
    subprocess.run(["qemu-img", "convert", "-O", "raw", path, path.with_suffix(".all")], check=True)
    return path.with_suffix(".all").read_bytes()


def test_a_note_of_another_kernel_is_whole_also_in_a_folder_with_a_blank_in_its_name(tmp_path: Path) -> None:
    text = b"bootlab-hibernation 1\nkernel 6.1 #1\n"
    before = {0: b"swap", NOTE_AT: text + b"crc %08x\n" % zlib.crc32(text), NOTE_AT + 4096: b"random"}
    path = overlay(tmp_path / "my disks, and more", before)
    spoil_disks(path, range(SIZE), None, Fault.OTHER_KERNEL)
    after = content(path)
    other = b"bootlab-hibernation 1\nkernel other-6.1 #1\n"
    assert after[NOTE_AT : NOTE_AT + 4096].rstrip(b"\0") == other + b"crc %08x\n" % zlib.crc32(other)
    assert after[:4] == b"swap" and after[NOTE_AT + 4096 :].startswith(b"random")


def test_an_image_that_was_cut_has_its_first_half_and_the_note(tmp_path: Path) -> None:
    half = 131072
    path = overlay(tmp_path / "disks", {0: b"a" * half, half: b"b" * half, NOTE_AT: b"note"})
    spoil_disks(path, range(SIZE), None, Fault.IMAGE_CUT)
    after = content(path)
    assert after[:half] == b"a" * half and not after[2 * half : NOTE_AT].strip(b"\0")
    assert b"b" not in after[half + 65536 :] and after[NOTE_AT:].startswith(b"note")


def test_an_image_that_was_taken_leaves_a_swap_area(tmp_path: Path) -> None:
    header = b"header".ljust(4076, b"\0") + b"SWAPSPACE2" + b"S1SUSPEND\0"
    path = overlay(tmp_path / "disks", {0: header + b"image", NOTE_AT: b"note"})
    spoil_disks(path, range(SIZE), None, Fault.NO_IMAGE)
    after = content(path)
    assert after[:4096] == header[:4076] + b"SWAPSPACE2" * 2
    assert after[4096:4101] == b"image" and after[NOTE_AT:].startswith(b"note")


def test_an_image_comes_back_where_the_disk_lost_that_it_was_taken(tmp_path: Path) -> None:
    header = b"header".ljust(4076, b"\0") + b"SWAPSPACE2" * 2
    path = overlay(tmp_path / "disks", {0: header + b"image", NOTE_AT: b"note"})
    spoil_disks(path, range(SIZE), None, Fault.IMAGE_TAKEN)
    after = content(path)
    assert after[:4096] == header[:4086] + b"S1SUSPEND\0"
    assert after[4096:4101] == b"image" and after[NOTE_AT:].startswith(b"note")
    with pytest.raises(InputError, match="the start before has taken no image"):
        spoil_disks(path, range(SIZE), None, Fault.IMAGE_TAKEN)


def test_without_an_image_there_is_none_to_take_away(tmp_path: Path) -> None:
    path = overlay(tmp_path / "disks", {0: b"header".ljust(4086, b"\0") + b"SWAPSPACE2"})
    with pytest.raises(InputError, match="has left no image that could be taken away"):
        spoil_disks(path, range(SIZE), None, Fault.NO_IMAGE)


def test_of_two_disks_with_swap_areas_the_guest_hibernates_into_the_first(tmp_path: Path) -> None:
    text = (EXAMPLES / "persistence/hibernated.toml").read_text()
    before, _, rest = text.replace("sleeper-init", str(EXAMPLES / "persistence/sleeper-init")).partition("[[disks]]\n")
    more = '[[disks]]\nsize_mib = 8\n[[disks]]\nsize_mib = 9\nattach = "nvme"\n'
    behind = '[[disks]]\nsize_mib = 10\nfilesystem = "swap"\n'
    (tmp_path / "two.toml").write_text(f"{before}{more}[[disks]]\n{rest}{behind}".replace("/dev/vdb", "/dev/vdc"))
    system = read_system(tmp_path / "two.toml")
    assert system.swap_device == "/dev/vdc" and place_of(system, "swap") == 3
    assert system.disks[place_of(system, "swap") - 1].size_mib == 192


def test_a_swap_disk_that_is_made_here_has_room_for_the_note_of_the_guest(tmp_path: Path) -> None:
    guest = Path(__file__).parents[3] / "guest"
    (tmp_path / "room.c").write_text(
        '#include "sleep/note.h"\n#include <stdlib.h>\n#include <unistd.h>\n'
        "int main(int argc, char **argv) { char first[NOTE_SIZE]; "
        "return read(0, first, sizeof first) != sizeof first || note_find_room(first, strtoull(argv[1], 0, 10)); }\n"
    )
    sources = [tmp_path / "room.c", guest / "sleep/note.c", guest / "kept/header.c"]
    subprocess.run(["cc", "-D_GNU_SOURCE", f"-I{guest}", "-o", tmp_path / "room", *sources], check=True)
    swap = make_swap(3, Cache(tmp_path / "cache"))
    at = swap.stat().st_size - 8192
    for place, code in ((at, 0), (at - 4096, 1)):
        with swap.open("rb") as file:
            assert subprocess.run([tmp_path / "room", str(place)], stdin=file, check=False).returncode == code


def test_on_a_board_the_swap_area_is_the_end_of_the_card(tmp_path: Path) -> None:
    swap_at = SIZE // 2
    text = b"bootlab-hibernation 1\nkernel 6.12 #1\ncard 0123\n"
    header = b"header".ljust(4076, b"\0") + b"SWAPSPACE2" + b"S1SUSPEND\0"
    pieces = {swap_at: header, NOTE_AT: text + b"crc %08x\n" % zlib.crc32(text)}
    path = overlay(tmp_path / "old", pieces)
    spoil_disks(path, range(swap_at, SIZE), None, Fault.OLD_IMAGE)
    other = text.replace(b"0123", b"other-0123")
    assert content(path)[NOTE_AT : NOTE_AT + 4096].rstrip(b"\0") == other + b"crc %08x\n" % zlib.crc32(other)
    path = overlay(tmp_path / "taken", pieces)
    spoil_disks(path, range(swap_at, SIZE), None, Fault.NO_IMAGE)
    assert content(path)[swap_at : swap_at + 4096] == header[:4076] + b"SWAPSPACE2" * 2
