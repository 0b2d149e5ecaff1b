"""Tells how much of a board's boot time its modelled serial line and card took, in the bootloader and in the kernel.

The drivers count it (patches/), and the guest reads the counts after ready and prints them as facts. A wait is counted
only where somebody had nothing else to do, so the terms are part of the boot's time and not on top of it.
"""

from dataclasses import dataclass

from bootlab.measure.record import BootRecord

_FACT = "board_model."
_CAMERA_MARK = "camera"
"""The guest's own mark: the application has found its camera."""


@dataclass(frozen=True, slots=True)
class BoardTerms:
    """Terms of one boot, in ns; None for what the guest did not say."""

    loader_line_ns: int | None
    loader_card_ns: int | None
    kernel_line_ns: int | None
    kernel_card_ns: int | None
    """Time that the kernel's transfers took, which others may have used."""
    camera_powered_ns: int | None
    """Power-on to power at the camera's port."""
    camera_enumeration_ns: int | None
    """Power to the camera's device."""
    camera_to_ready_ns: int | None
    """The camera's device to ready."""


def board_terms(record: BootRecord) -> BoardTerms | None:
    """Return the terms of a boot of a system with a board model; None for another."""
    if record.board_model is None:
        return None
    powered, there = _count(record, "camera_powered_us"), _count(record, "camera_there_us")
    ready = record.ready_ns
    has_camera = bool(powered is not None and there)
    since = there * 1000 if has_camera and there is not None else record.marks.get(_CAMERA_MARK)
    return BoardTerms(
        loader_line_ns=_count(record, "loader_uart_ns"),
        loader_card_ns=_count(record, "loader_storage_ns"),
        kernel_line_ns=_count(record, "uart_wait_ns"),
        kernel_card_ns=_count(record, "storage_ns"),
        camera_powered_ns=powered * 1000 if has_camera and powered is not None else None,
        camera_enumeration_ns=(there - powered) * 1000 if there and powered is not None else None,
        camera_to_ready_ns=ready - since if ready is not None and since is not None else None,
    )


def modelled_load_ns(record: BootRecord) -> int | None:
    """Return what loading took by the system's models, part of `total_ns`; None where nobody knows.

    Before power-on by the storage model, and as long as a bootloader waited for the card by the board model. A smaller
    kernel takes less of it, whatever its instructions do. Unknown for a system that has no model, and for a guest that
    did not say what its bootloader waited, as one without /sys cannot.
    """
    if record.storage is None and record.board_model is None:
        return None
    terms = board_terms(record)
    if terms is None:
        return record.load_ns
    return None if terms.loader_card_ns is None else record.load_ns + terms.loader_card_ns


def _count(record: BootRecord, name: str) -> int | None:
    text = record.facts.get(_FACT + name, "")
    return int(text) if text.isdigit() else None
