"""Image files: what is one, and one sentence for each way in which one cannot be."""

import os
import struct
from pathlib import Path

import pytest

from bootlab.build.image.image_file import EFI, ISO, QCOW2, RAW, content_hash, looks_like_image, open_image
from bootlab.errors import InputError
from bootlab.process import run
from tests.build.formats.test_el_torito import iso
from tests.build.image.small_images import efi_program

MIB = 1 << 20
BOOTABLE = bytes(510) + b"\x55\xaa" + bytes(4096)


def written(tmp_path: Path, data: bytes, name: str = "disk.img") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def qcow2(path: Path, *more: str | Path, size: str = "8M") -> Path:
    run(
        ["qemu-img", "create", "-q", "-f", "qcow2", *more, path, *([] if "-b" in more and "-u" not in more else [size])]
    )
    return path


def test_formats(tmp_path: Path) -> None:
    assert open_image(written(tmp_path, BOOTABLE)).format == RAW
    image = open_image(qcow2(tmp_path / "a.qcow2"))
    assert (image.format, image.bytes, image.chain) == (QCOW2, 8 * MIB, ())
    assert open_image(written(tmp_path, efi_program(), "a.efi")).format == EFI
    # Whatever it is called; a hybrid has a partition table, too.
    disc = written(tmp_path, iso()[:510].ljust(510, b"\0") + b"\x55\xaa" + iso()[512:], "disc")
    assert open_image(disc).format == ISO and looks_like_image(disc)


def test_an_overlay_beside_its_image(tmp_path: Path) -> None:
    base = qcow2(tmp_path / "base.qcow2")
    over = qcow2(tmp_path / "over.qcow2", "-b", "base.qcow2", "-F", "qcow2")
    assert open_image(over).chain == (base,)
    before = content_hash(open_image(over))
    with base.open("r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(b"more")
    assert content_hash(open_image(over)) != before


@pytest.mark.parametrize("name", ["../secret.qcow2", "{outside}/secret.qcow2"])
def test_an_overlay_of_a_file_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "outside" / "images"
    folder.mkdir(parents=True)
    qcow2(outside / "secret.qcow2")
    over = qcow2(folder / "over.qcow2", "-b", name.format(outside=outside), "-F", "qcow2")
    with pytest.raises(InputError, match="outside of the image's folder: refused"):
        open_image(over)


def test_a_link_to_elsewhere_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    qcow2(tmp_path / "secret.qcow2")
    (tmp_path / "images/base.qcow2").symlink_to(tmp_path / "secret.qcow2")
    over = qcow2(tmp_path / "images/over.qcow2", "-b", "base.qcow2", "-F", "qcow2")
    with pytest.raises(InputError, match="outside of the image's folder: refused"):
        open_image(over)


def test_an_overlay_of_a_format_that_names_more_files_is_refused(tmp_path: Path) -> None:
    # A VMDK is text that says where its data lies: outside of the folder, too.
    base = tmp_path / "base.vmdk"
    base.write_text('version=1\nCID=fffffffe\ncreateType="monolithicFlat"\nRW 2048 FLAT "/etc/passwd" 0\n')
    over = qcow2(tmp_path / "over.qcow2", "-u", "-b", "base.vmdk", "-F", "vmdk", size="1M")
    with pytest.raises(InputError, match=r"an overlay of base.vmdk, of format 'vmdk': refused"):
        open_image(over)
    written(tmp_path, over.read_bytes().replace(b"\xe2\x79\x2a\xca", b"\0\0\0\7"), over.name)
    with pytest.raises(
        InputError, match=r"an overlay of base.vmdk, and not of which format that is: refused"
    ) as caught:
        open_image(over)
    assert caught.value.hint is not None and "rebase -u -F raw -b base.vmdk over.qcow2" in caught.value.hint
    run(["qemu-img", "rebase", "-u", "-F", "raw", "-b", "base.vmdk", over])
    assert open_image(over).chain == (base,)


def test_what_is_below_an_overlay_is_held_to_the_same(tmp_path: Path) -> None:
    qcow2(tmp_path / "base.qcow2", "-o", f"data_file={tmp_path.parent}/secret,data_file_raw=on")
    over = qcow2(tmp_path / "over.qcow2", "-u", "-b", "base.qcow2", "-F", "qcow2", size="8M")
    with pytest.raises(InputError, match=r"over.qcow2: base.qcow2, below it: a qcow2 image whose data is in another"):
        open_image(over)
    (tmp_path / "base.qcow2").write_bytes(b"QFI\xfb")
    with pytest.raises(InputError, match="base.qcow2, below it: a qcow2 image that is cut off"):
        open_image(over)


def test_an_overlay_behind_a_link_is_one_of_what_lies_beside_itself(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    base = qcow2(tmp_path / "images/base.qcow2")
    over = qcow2(tmp_path / "images/over.qcow2", "-b", "base.qcow2", "-F", "qcow2")
    (tmp_path / "link.qcow2").symlink_to(over)
    found = open_image(tmp_path / "link.qcow2")
    # QEMU is given the file itself: beside the link it would find nothing.
    assert (found.path, found.chain) == (over, (base,))


def test_an_overlay_of_what_is_gone(tmp_path: Path) -> None:
    base = qcow2(tmp_path / "base.qcow2")
    over = qcow2(tmp_path / "over.qcow2", "-b", "base.qcow2", "-F", "qcow2")
    base.unlink()
    with pytest.raises(InputError, match=r"over.qcow2: is an overlay of base.qcow2, which is not there"):
        open_image(over)


@pytest.mark.parametrize("name", ["nbd://127.0.0.1/x", "json:{}"])
def test_an_overlay_of_no_file(name: str, tmp_path: Path) -> None:
    head = struct.pack(">4sIQIIQI", b"QFI\xfb", 3, 104, len(name), 16, MIB, 0).ljust(104, b"\0") + name.encode()
    with pytest.raises(InputError, match="which is no file: refused"):
        open_image(written(tmp_path, head.ljust(4096, b"\0")))


def test_overlays_in_a_circle(tmp_path: Path) -> None:
    head = struct.pack(">4sIQIIQI", b"QFI\xfb", 3, 104, 8, 16, MIB, 0).ljust(104, b"\0") + b"disk.img"
    with pytest.raises(InputError, match="in a circle"):
        open_image(written(tmp_path, head.ljust(4096, b"\0")))


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (struct.pack(">4sIQIIQI", b"QFI\xfb", 3, 0, 0, 16, MIB, 2), "an encrypted qcow2 image"),
        (struct.pack(">4sIQIIQI", b"QFI\xfb", 1, 0, 0, 16, MIB, 0), "qcow version 1"),
        (struct.pack(">4sIQIIQI36xQ", b"QFI\xfb", 3, 0, 0, 16, MIB, 0, 4), "in another file"),
        (struct.pack(">4sIQIIQI36xQ", b"QFI\xfb", 3, 0, 0, 16, MIB, 0, 2), "marked as corrupt"),
    ],
)  # fmt: skip
def test_qcow2_images_that_are_refused(header: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        open_image(written(tmp_path, header.ljust(4096, b"\0")))


def test_a_qcow2_header_that_is_cut_off(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cut off"):
        open_image(written(tmp_path, b"QFI\xfb\0\0\0\3"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "an empty file"),
        (bytes(1 << 16), "are zeros: without a partition table"),
        (b"\x1f\x8b" + bytes(99), "compressed with gzip"),
        (b"\xfd7zXZ\0" + bytes(99), "compressed with xz"),
        (b"KDMV" + bytes(99), "a VMware disk"),
        (b"PK\3\4" + bytes(99), "a zip archive"),
        (b"\x7fELF" + bytes(99), "an ELF file"),
        (bytes(0x8001) + b"CD001" + bytes(99), "cut off: its volume descriptors are not all there"),
        (iso(system=b"EL DORADO"), "an ISO image that nothing boots"),
        (bytes(0x101) + b"ustar" + bytes(99), "a tar archive"),
    ],
)
def test_what_is_no_disk(data: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        open_image(written(tmp_path, data))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or directory, expected a disk image"):
        open_image(tmp_path / "none.img")


def test_which_words_of_a_command_line_are_images(tmp_path: Path) -> None:
    assert looks_like_image(written(tmp_path, BOOTABLE, "disk"))
    assert looks_like_image(written(tmp_path, b"garbage", "disk.qcow2"))
    assert not looks_like_image(written(tmp_path, b"[machine]\ntype = 'q35'\n", "system"))
    assert not looks_like_image(written(tmp_path, BOOTABLE, "system.toml"))
    assert not looks_like_image(tmp_path / "none.img") and not looks_like_image(tmp_path)
    os.mkfifo(tmp_path / "pipe.img")
    assert not looks_like_image(tmp_path / "pipe.img")


def test_the_hash_is_of_the_content_and_not_of_holes(tmp_path: Path) -> None:
    data = BOOTABLE.ljust(3 * MIB, b"\0") + b"behind a hole" + bytes(MIB)
    whole = written(tmp_path, data, "whole")
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.write(BOOTABLE)
        file.seek(3 * MIB)
        file.write(b"behind a hole")
        file.truncate(len(data))
    assert content_hash(open_image(whole)) == content_hash(open_image(sparse))
    sparse.write_bytes(data[:-1])
    assert content_hash(open_image(whole)) != content_hash(open_image(sparse))


def test_two_tib_of_nothing_are_hashed_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, BOOTABLE)
    os.truncate(path, 2 << 40)
    assert len(content_hash(open_image(path))) == 64
