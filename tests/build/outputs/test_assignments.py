"""Lines of NAME=value: quotes, comments, the last of two; files that cannot be read."""

from pathlib import Path

import pytest

from bootlab.build.outputs.assignments import parse_assignments, read_small
from bootlab.errors import InputError


def test_values_lose_their_quotes_and_the_last_counts() -> None:
    text = '# BR2_A is not set\nBR2_B=y\nBR2_C="a \\"b\\" c"\nX=\'plain\'\nBR2_B=n\nnot a line\n'
    assert parse_assignments(text) == {"BR2_B": "n", "BR2_C": 'a "b" c', "X": "plain"}


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_small(tmp_path / "gone")
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate((16 << 20) + 1)
    with pytest.raises(InputError, match="more than 16 MiB"):
        read_small(large)
    (tmp_path / "bytes").write_bytes(b"\xffA=1")
    assert read_small(tmp_path / "bytes").endswith("A=1")
