"""Ten minutes of a serial line at 3 Mbaud, without a byte lost."""

from pathlib import Path

import pytest

from tests.serial.test_watch_in_real_time import no_byte_lost


@pytest.mark.bench
def test_no_byte_is_lost_in_ten_minutes_at_3_mbaud(tmp_path: Path) -> None:
    no_byte_lost(tmp_path, 600)
