"""The API: an answer is taken as it is meant, and anything else is named with the request."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bootlab.errors import BootFailed
from bootlab.targets.cloud_hypervisor.identity import CLOUD_HYPERVISOR
from bootlab.targets.firecracker.identity import FIRECRACKER
from bootlab.targets.vmm.api import Api, ApiCall, is_answering

CALL = ApiCall("PUT", "/boot-source", {"kernel_image_path": "/vmlinux"})


@contextmanager
def answering(path: Path, *answers: bytes) -> Iterator[list[bytes]]:
    """Answer one request after the other with these bytes, then hang up; gives what was asked."""
    asked: list[bytes] = []
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()

    def serve() -> None:
        with suppress(OSError):
            line, _ = server.accept()
            with line:
                for answer in answers:
                    said = b""
                    # Its head and its body may come apart.
                    while not said.endswith((b"}", b"\r\n\r\n")) or (said.startswith(b"PUT") and b"}" not in said):
                        said += line.recv(65536)
                    asked.append(said)
                    line.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield asked
    finally:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(10)


def test_no_content_and_a_document_are_answers(tmp_path: Path) -> None:
    with answering(
        tmp_path / "api",
        b"HTTP/1.1 204 \r\nServer: Firecracker API\r\nConnection: keep-alive\r\n\r\n",
        b'HTTP/1.1 200 \r\nContent-Length: 32\r\n\r\n{"firecracker_version":"1.15.1"}',
    ) as asked:
        api = Api(tmp_path / "api", FIRECRACKER)
        assert api.call(CALL) == {}
        assert api.call(ApiCall("GET", "/version")) == {"firecracker_version": "1.15.1"}
        api.close()
    assert asked[0].startswith(b"PUT /boot-source HTTP/1.1\r\n") and asked[0].endswith(
        b'{"kernel_image_path": "/vmlinux"}'
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            b'HTTP/1.1 400 \r\nContent-Length: 31\r\n\r\n{"fault_message":"no\\u001b[2J way"}'[:-4] + b'y"}',
            "no answer of",
        ),
        (b'HTTP/1.1 400 \r\nContent-Length: 26\r\n\r\n{"fault_message":"no way"}', r"refused \(400\): no way"),
        (b"HTTP/1.1 200 \r\nContent-Length: 6\r\n\r\n<html>", "answered 200 and <html>"),
        (b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n[]", "no answer of Firecracker"),
        (b"HTTP/1.1 302 \r\nContent-Length: 0\r\n\r\n", "answered 302 and nothing"),
        (b"HTTP/1.1 204 \r\nContent-Length: 0\r\n\r\n"[:10], "no answer"),
        (b"SSH-2.0-OpenSSH\r\n", "no answer: "),
        (b"", "no answer: "),
        (b"HTTP/1.1 200 \r\nContent-Length: 9\r\n\r\n" + b"[" * 9, "no answer of"),
    ],
)
def test_any_other_answer_is_named(tmp_path: Path, answer: bytes, words: str) -> None:
    with answering(tmp_path / "api", answer), pytest.raises(BootFailed, match=f"PUT /boot-source: .*{words}"):
        Api(tmp_path / "api", FIRECRACKER).call(CALL)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b'["Error from API","The VM could not boot"]', r"refused \(500\): Error from API: The VM could not boot"),
        (b'["Error", 7]', "answered 500 and .* which is no answer of Cloud Hypervisor's API"),
        (b"[]", "no answer of Cloud Hypervisor's"),
        (b'{"fault_message":"no way"}', "no answer of Cloud Hypervisor's"),
    ],
)
def test_each_vmm_refuses_in_its_own_form(tmp_path: Path, said: bytes, words: str) -> None:
    answer = b"HTTP/1.1 500 \r\nContent-Length: %d\r\n\r\n%s" % (len(said), said)
    with answering(tmp_path / "api", answer), pytest.raises(BootFailed, match=f"Cloud Hypervisor: PUT .*{words}"):
        Api(tmp_path / "api", CLOUD_HYPERVISOR).call(CALL)


def test_a_socket_that_is_left_over_does_not_answer(tmp_path: Path) -> None:
    with answering(tmp_path / "api"):
        assert is_answering(tmp_path / "api")
    assert not is_answering(tmp_path / "api") and (tmp_path / "api").exists()
    with pytest.raises(BootFailed, match="no answer"):
        Api(tmp_path / "api", FIRECRACKER).call(CALL)


def test_a_link_to_anothers_socket_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "api")
    with answering(tmp_path / "api", b"HTTP/1.1 204 \r\n\r\n") as asked:
        assert not is_answering(tmp_path / "link") and not is_answering(tmp_path / "none")
        with pytest.raises(BootFailed, match="PUT /boot-source: no answer"):
            Api(tmp_path / "link", FIRECRACKER).call(CALL)
        assert asked == []
