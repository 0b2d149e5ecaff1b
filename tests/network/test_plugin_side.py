"""What the plugin and the peer say to each other: the other end is tested in plugin/tests/test_answer.c."""

import pytest

from bootlab.network.frames import Give, Mark, Wake
from bootlab.network.plugin_side import answer_bytes, read_question


def test_answers() -> None:
    assert answer_bytes(Wake(256)) == b"W\x00\x01\0\0\0\0\0\0"
    assert answer_bytes(Give(5, b"frame of fourteen")) == b"F\x05\0\0\0\0\0\0\0frame of fourteen"
    assert answer_bytes(Mark("port_22")) == b"Mport_22"


def test_questions() -> None:
    assert read_question(b"hello 1") == ("hello", 1, "")
    assert read_question(b"sent 1500") == ("sent", 1500, "")
    assert read_question(b"mark 1500 ready") == ("mark", 1500, "ready")


@pytest.mark.parametrize("message", [b"", b"sent", b"sent x", b"mark 5", b"sent 5 ready", b"mark 5 a b", b"\xff 5"])
def test_anything_else_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError):
        read_question(message)
