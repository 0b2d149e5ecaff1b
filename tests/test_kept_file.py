"""What runs have kept: why it cannot be read, in one line that names the key."""

import json
import os
from pathlib import Path

import pytest
from pydantic import BaseModel

from bootlab.kept_file import UNREADABLE, damaged, is_kept, read_kept, why_damaged


class _Form(BaseModel):
    at: dict[str, int]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff", "byte 0 is not UTF-8"),
        (b"", "not JSON: Expecting value"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5000, "a number with more digits than any can have"),
        (b'{"at": {"x": "y"}}', "at.x: Input should be a valid integer"),
        (b"{}", "at: Field required"),
        (b"[]", "Input should be a valid dictionary"),
    ],
)
def test_why_a_document_cannot_be_read(data: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_bytes(data)
    with pytest.raises(UNREADABLE) as caught:
        _Form.model_validate(json.loads(read_kept(path)))
    assert why_damaged(caught.value).startswith(why)
    told = damaged(path, caught.value)
    assert told.message.startswith(f"{path}: damaged: {why}") and told.hint


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_kept(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        read_kept(tmp_path)


def test_a_missing_key_is_named() -> None:
    assert why_damaged(KeyError("kind")) == "kind: missing"


def test_what_leads_nowhere_is_kept_and_damaged(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    assert not is_kept(record)
    assert not is_kept(tmp_path / "file" / "record.json")
    (tmp_path / "file").write_text("")
    assert not is_kept(tmp_path / "file" / "record.json")
    record.symlink_to("nothing-such")
    assert is_kept(record)
