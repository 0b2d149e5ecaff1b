"""Fresh disks: a clean file system, the same bytes at any time, by anybody."""

import shutil
import time
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.root.disk import make_blank, make_empty_ext4
from bootlab.process import require_program, run

pytestmark = pytest.mark.skipif(
    shutil.which("mke2fs", path="/usr/sbin:/sbin:/usr/bin") is None, reason="needs e2fsprogs"
)


@pytest.mark.parametrize("size_mib", [1, 16, 64])
def test_a_fresh_disk_is_a_clean_file_system_of_its_size(tmp_path: Path, size_mib: int) -> None:
    image = make_empty_ext4(size_mib, Cache(tmp_path))
    assert image.stat().st_size == size_mib << 20
    run([require_program("e2fsck"), "-f", "-n", image])


def test_the_bytes_do_not_depend_on_the_time(tmp_path: Path) -> None:
    first = make_empty_ext4(16, Cache(tmp_path / "first")).read_bytes()
    time.sleep(1.1)  # the file system's times count seconds
    assert make_empty_ext4(16, Cache(tmp_path / "second")).read_bytes() == first


def test_a_blank_disk_has_nothing_but_zeros(tmp_path: Path) -> None:
    data = make_blank(1, Cache(tmp_path)).read_bytes()
    assert len(data) == 1 << 20 and not data.strip(b"\0")
