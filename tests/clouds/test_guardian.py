"""The guardian ends what was rented when its input closes without a word, and nothing where all was ended."""

import time
from pathlib import Path

import pytest

from bootlab.clouds.guardian import Guardian


@pytest.mark.parametrize("ended", [True, False])
def test_what_was_not_ended_is_ended(ended: bool, tmp_path: Path) -> None:
    # It succeeds at its third try.
    delete = f"echo $BOOTLAB_NAME >>{tmp_path}/tried; [ $(wc -l <{tmp_path}/tried) -ge 3 ]"
    told = {"kind": "commands", "name": "here-1", "delete": ["sh", "-c", delete], "deadline_s": 10}
    guardian = Guardian(told)
    assert guardian.lives
    guardian.release(ended=ended)
    until = time.monotonic() + 60
    while guardian.lives and time.monotonic() < until:
        time.sleep(0.05)
    assert not guardian.lives
    tried = tmp_path / "tried"
    assert (tried.read_text().split() if tried.exists() else []) == ([] if ended else ["here-1"] * 3)
