"""Compression studies in Markdown."""

from bootlab.report.compression.markdown import compression_markdown
from tests.report.sweep.results import STUDY


def test_a_study_has_every_speed_and_where_the_best_changes() -> None:
    text = compression_markdown(STUDY)
    assert "| lz4 | 1,968,275 | 23.04 | 16793.23 | 8734.31 |" in text
    assert "**1481.28**" in text
    assert "| lzo | | not built: lzop: not found (Debian package lzop) |" in text
    flat = text.replace("\n", " ")
    assert "zstd from 0.54 MB/s to 10.3 MB/s (by seed 10.2 MB/s to 10.4 MB/s)" in flat
    assert "Left out: kernel: only a kernel that is built" in flat
