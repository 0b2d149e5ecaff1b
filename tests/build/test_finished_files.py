"""Finished files of a system: empty ones are refused by their key, before anything is built."""

import gzip
from pathlib import Path

import pytest

from bootlab.build.boot_files import prepare
from bootlab.build.cache import Cache
from bootlab.build.finished_files import expect_finished_files
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import System


def system(folder: Path) -> System:
    """Return a system all of whose files are named by path; the kernel is none."""
    for name in ("kernel", "root.ext4", "initramfs.gz", "first.img", "second.img"):
        (folder / name).write_bytes(b"x")
    return System.model_validate(
        {
            "name": "test",
            "machine": {"type": "q35"},
            "kernel": {"image": folder / "kernel", "cmdline": "root=/dev/vda"},
            "rootfs": {"path": folder / "root.ext4"},
            "initramfs": {"path": folder / "initramfs.gz"},
            "disks": [{"path": folder / "first.img"}, {"path": folder / "second.img"}],
            "booted": {"mark": "ready"},
        }
    )


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("root.ext4", r"^rootfs\.path: .*root\.ext4: an empty file, expected a root file system$"),
        ("initramfs.gz", r"^initramfs\.path: .*initramfs\.gz: an empty file, expected an archive$"),
        ("second.img", r"^disks\[1\]\.path: .*second\.img: an empty file, expected a disk$"),
    ],
)
def test_an_empty_file_is_refused_before_the_kernel_is_read(name: str, match: str, tmp_path: Path) -> None:
    asked = system(tmp_path)
    expect_finished_files(asked)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=match):
        prepare(Workshop(Cache(tmp_path / "cache")), asked)


def test_a_root_that_cannot_be_read_is_an_error_of_its_key(tmp_path: Path) -> None:
    asked = system(tmp_path)
    (tmp_path / "root.ext4").unlink()
    with pytest.raises(InputError, match=r"^rootfs\.path: .*root\.ext4: No such file"):
        expect_finished_files(asked)


def test_a_root_that_is_compressed_is_refused_and_an_archive_is_not(tmp_path: Path) -> None:
    asked = system(tmp_path)
    for name in ("initramfs.gz", "first.img", "root.ext4"):
        (tmp_path / name).write_bytes(gzip.compress(b"x" * 100))
        if name != "root.ext4":
            expect_finished_files(asked)
    with pytest.raises(InputError, match=r"^rootfs\.path: .*: compressed by gzip, expected a file system"):
        expect_finished_files(asked)


def test_a_card_of_a_wrong_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernel").write_bytes(b"x")
    (tmp_path / "card.img").write_bytes(b"abc")
    asked = System.model_validate(
        {
            "name": "test",
            "machine": {"type": "orangepi-pc"},
            "kernel": {"image": tmp_path / "kernel"},
            "card": {"path": tmp_path / "card.img"},
            "booted": {"mark": "ready"},
        }
    )
    with pytest.raises(InputError, match=r"card\.path: .*power of two"):
        expect_finished_files(asked)
