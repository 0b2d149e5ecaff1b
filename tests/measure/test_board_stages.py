"""A boot's phases with what its card was read for, and U-Boot's own stages from the console."""

from pathlib import Path

from bootlab.measure.board_stages import phase_records, stage_records
from bootlab.profile.recorded.card_reads import CARD_LOG

MARKS = {"power_on": 0, "spl_entry": 2, "uboot_entry": 100, "image_entry": 300, "ready": 900}
LOG = """\
bootlab-plugin: mark spl_entry
1@1.2:sdcard_read_block addr 0x8000 size 0x200
bootlab-plugin: mark uboot_entry
1@1.3:sdcard_read_block addr 0x8200 size 0x400
bootlab-plugin: mark image_entry
bootlab-plugin: mark first_frame
"""
CONSOLE = """\
Timer summary in microseconds (9 records):
       Mark    Elapsed  Stage
          0          0  reset
     37,670     37,670  board_init_f
    161,832          1  start_kernel

Accumulated time:
                 6,937  dm_f

Starting kernel ...
"""


def test_phases_say_what_was_read_from_the_card(tmp_path: Path) -> None:
    (tmp_path / CARD_LOG).write_text(LOG)
    records = phase_records(MARKS, tmp_path, "first_frame", {})
    assert [(one.start, one.read_bytes) for one in records] == [
        ("power_on", 0), ("spl_entry", 512), ("uboot_entry", 1024), ("image_entry", 0),
    ]  # fmt: skip
    assert not (tmp_path / CARD_LOG).exists()
    assert all(one.read_bytes is None for one in phase_records(MARKS, tmp_path, "first_frame", {}))


def test_stages_of_a_report_on_the_console() -> None:
    stages = [(stage.name, stage.t_ns) for stage in stage_records("U-Boot SPL\n" + CONSOLE)]
    assert stages == [("reset", 0), ("board_init_f", 37_670_000), ("start_kernel", 161_832_000)]
    assert stage_records("U-Boot SPL\nStarting kernel ...\n") == []
    assert stage_records("Timer summary in microseconds (9 records):\n") == []
