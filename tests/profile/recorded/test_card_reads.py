"""What a board read from its card by phase, out of QEMU's log."""

from pathlib import Path

from bootlab.profile.recorded.card_reads import read_between, read_card_log

LOG = """\
bootlab-plugin: mark spl_entry
1234@1700000000.000001:sdcard_read_block addr 0x8000 size 0x200
1234@1700000000.000002:sdcard_read_block addr 0x8200 size 0x200
bootlab-plugin: mark uboot_entry
bootlab-plugin: mark ready
1234@1700000000.000003:sdcard_read_block addr 0x8400 size 0x200
bootlab-plugin: mark ready
bootlab-plugin: mark sdcard_read_block addr 0x1 size 0x2"""


def test_bytes_before_each_mark(tmp_path: Path) -> None:
    path = tmp_path / "card.log"
    path.write_text(LOG)
    reads = read_card_log(path)
    # The first time that a mark is reached counts, and a line that was cut off does not.
    assert reads == {"spl_entry": 0, "uboot_entry": 1024, "ready": 1024}
    assert read_between(reads, "spl_entry", "uboot_entry") == 1024
    assert read_between(reads, "uboot_entry", "image_entry") is None
    assert read_card_log(tmp_path / "none") == {}
