"""A partition without room: the error names it, and says what was needed and what is free."""

from bootlab.build.image.room import no_room


def test_what_is_needed_and_what_is_free() -> None:
    error = no_room("partition 15 (FAT)", "EFI/BOOT/BOOTX64.EFI", 40 << 20, 700)
    assert (
        error.message
        == "partition 15 (FAT) has no room for EFI/BOOT/BOOTX64.EFI: it needs 40.0 MiB, and 700 bytes are free"
    )
    assert error.hint is not None and "larger" in error.hint


def test_free_room_that_nobody_knows() -> None:
    assert no_room("partition 1", "/a", 5000, None).message.endswith("it needs 5,000 bytes, and less is free")
