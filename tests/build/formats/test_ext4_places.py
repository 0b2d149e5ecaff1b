"""Where files lie in an ext4 image: the bytes found there are theirs; what is no ext4 is told apart."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from bootlab.build.formats import ext4
from bootlab.build.formats.cpio import Entry
from bootlab.build.formats.ext4_places import is_ext4, read_places

pytestmark = pytest.mark.skipif(
    shutil.which("debugfs", path="/usr/sbin:/sbin:/usr/bin:/bin") is None, reason="needs e2fsprogs"
)


def test_the_bytes_of_a_file_lie_where_it_is_said(tmp_path: Path) -> None:
    large = os.urandom(300_000)
    entries = [
        Entry("etc", stat.S_IFDIR | 0o755),
        Entry("etc/a name with blanks", stat.S_IFREG | 0o644, b"small"),
        Entry("etc/large", stat.S_IFREG | 0o644, large),
        Entry("etc/none", stat.S_IFREG | 0o644, b""),
    ]
    image = tmp_path / "image"
    ext4.make_from(entries, image, None, journal=True)
    data = image.read_bytes()
    places = list(read_places(image))
    found = dict.fromkeys(("/etc/a name with blanks", "/etc/large"), b"")
    for place in places:
        if place.path in found:
            found[place.path] += data[place.sector * 512 : (place.sector + place.sectors) * 512]
    assert found["/etc/a name with blanks"].rstrip(b"\0") == b"small"
    assert found["/etc/large"][: len(large)] == large
    assert "/etc" in {place.path for place in places} and "/etc/none" not in {place.path for place in places}
    assert is_ext4(image)


@pytest.mark.parametrize("content", [b"", b"x", bytes(4096), bytes(1080) + b"\x53"])
def test_what_is_no_ext4(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(content)
    assert not is_ext4(tmp_path / "image")
