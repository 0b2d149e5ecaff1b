"""Finished files that a system names by path: those that no guest could boot from are refused before anything is built.

A kernel and a disk image are read further by whoever boots them; a root and a disk are the guest's to read.
"""

from pathlib import Path

from bootlab.build.board.card import expect_card
from bootlab.build.board.flash import expect_flash
from bootlab.build.formats.streams import HEAD_BYTES, compression_of
from bootlab.errors import InputError
from bootlab.system import System


def expect_finished_files(system: System) -> None:
    """Raise InputError, naming the key, for an empty root, archive or disk, and for a card or chip of a wrong size.

    And for a root that is compressed: a guest is given its bytes as they are. A disk may hold anything.
    """
    for key, part, what in (
        ("rootfs.path", system.rootfs, "a root file system"),
        ("initramfs.path", system.initramfs, "an archive"),
        *((f"disks[{index}].path", disk, "a disk") for index, disk in enumerate(system.disks)),
    ):
        if part is not None and part.path is not None:
            _expect_content(key, part.path, what)
    if system.rootfs is not None and system.rootfs.path is not None:
        _expect_unpacked("rootfs.path", system.rootfs.path)
    card, flash, board = system.card, system.flash, system.board
    if card is not None and card.path is not None:
        expect_card(card.path)
    if flash is not None and flash.path is not None and board is not None and board.flash is not None:
        expect_flash(flash.path, board.flash)


def _expect_content(key: str, path: Path, what: str) -> None:
    # A guest would boot, find nothing there, and wait for its deadline. A device has no size here, and is no file.
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{key}: {path}: an empty file, expected {what}", hint="build or copy it again")


def _expect_unpacked(key: str, path: Path) -> None:
    try:
        with path.open("rb") as file:
            packed = compression_of(file.read(HEAD_BYTES))
    except OSError as error:
        raise InputError(f"{key}: {path}: {error.strerror or error}") from error
    if packed is not None:
        raise InputError(f"{key}: {path}: compressed by {packed}, expected a file system as it is", hint="unpack it")
