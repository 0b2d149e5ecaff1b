"""What is no file is said before anybody opens it; with real FIFOs, sockets and devices, and a limit of time."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.build.cache import file_sha256
from bootlab.build.units.convert import read_and_convert
from bootlab.errors import InputError
from bootlab.plain_file import open_plain, open_plain_or_pipe, special_kind
from bootlab.price.host_model import read_host_model


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    """End a test after 20 s: what opens a FIFO waits for ever."""
    signal.alarm(20)
    yield
    signal.alarm(0)


def test_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "link").symlink_to("pipe.toml")
    kinds = [special_kind(tmp_path / name) for name in ("file", "pipe.toml", "link", "nothing", "x\0y")]
    assert kinds == [None, "a FIFO", "a FIFO", None, None]
    assert special_kind(tmp_path) is None and special_kind(Path("/dev/zero")) == "a device"


def test_nobody_waits_for_a_fifo(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for read in (open_plain, open_plain_or_pipe, file_sha256):
        with pytest.raises(OSError, match="a FIFO, not a regular file"):
            read(pipe)
    for read in (lambda path: read_host_model(str(path)), read_and_convert):
        with pytest.raises(InputError, match=r"pipe\.toml: a FIFO, not a regular file"):
            read(pipe)


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for read in (open_plain, open_plain_or_pipe):
        with read(tmp_path / "file") as file:
            assert file.read() == b"x"
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "nothing")
