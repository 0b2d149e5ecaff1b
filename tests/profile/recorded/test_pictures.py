"""The plugin's pictures: whole, cut short where QEMU was killed, and not pictures at all."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.profile.recorded.pictures import Picture, read_pictures

ONE = b"frame window 5 2 1\n" + bytes(range(8))
FILM = b"frame - 7 0 0\n"


def read(path: Path, data: bytes) -> list[Picture]:
    path.write_bytes(data)
    return list(read_pictures(path))


def test_they_are_read_in_order(tmp_path: Path) -> None:
    seen = read(tmp_path / "p", ONE + FILM + ONE)
    assert seen[0] == Picture("window", 5, 2, 1, bytes(range(8)))
    assert seen[1] == Picture(None, 7, 0, 0, b"")
    assert seen[2] == seen[0]


def test_half_a_last_one_is_a_qemu_that_was_killed(tmp_path: Path) -> None:
    for end in range(len(ONE)):
        assert len(read(tmp_path / "p", ONE + ONE[:end])) == 1


@pytest.mark.parametrize("data", [b"PNG\n", b"frame a b 1 1\n", b"x" * 200, b"frame a 1 1 1 1\n"])
def test_another_file_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not pictures of the plugin"):
        read(tmp_path / "p", data)
