"""A disk that is larger than its image: as large as asked for, in either format, and never smaller."""

from pathlib import Path

import pytest

from bootlab.build.image.image_file import QCOW2, RAW, open_image
from bootlab.build.image.make import expect_disk_for, grow_disk
from bootlab.errors import InputError
from bootlab.process import run
from tests.build.image.small_images import MIB, make_disk, make_ext4


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return make_disk(tmp_path / "small.img", [make_ext4(tmp_path, {"motd": b"hello\n"})])


def test_the_disk_has_more_behind_what_it_had(raw: Path) -> None:
    before = raw.read_bytes()
    grow_disk(raw, RAW, 64 * MIB)
    assert open_image(raw).bytes == 64 * MIB and raw.read_bytes()[: len(before)] == before


def test_a_qcow2_is_as_large_to_its_guest(raw: Path, tmp_path: Path) -> None:
    packed = tmp_path / "small.qcow2"
    run(["qemu-img", "convert", "-O", QCOW2, raw, packed])
    grow_disk(packed, QCOW2, 64 * MIB)
    assert open_image(packed).bytes == 64 * MIB and packed.stat().st_size < 32 * MIB


def test_a_smaller_one_is_refused_with_the_least_that_it_can_be(raw: Path) -> None:
    least = -(-raw.stat().st_size // MIB)
    expect_disk_for(raw, least * MIB)
    with pytest.raises(InputError, match=r"--disk 4: the image has [\d,]+ bytes already") as told:
        expect_disk_for(raw, 4 * MIB)
    assert f"--disk {least} at least" in str(told.value.hint)
