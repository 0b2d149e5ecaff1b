"""Metadata over HTTP: files, listings, tokens, what there is not, and requests in any pieces."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.network.addresses import ROUTER
from bootlab.network.metadata import read_folder, serve_files
from bootlab.network.tcp import Connection

FILES = {"/latest/meta-data/instance-id": b"i-1", "/latest/meta-data/placement/zone": b"a", "/user-data": b"#!/bin/sh"}


def ask(*pieces: bytes) -> tuple[bytes, bool, list[str]]:
    """Return what is said to a request that comes in these pieces, whether the connection ends, and what is told."""
    told: list[str] = []
    connection = Connection((ROUTER, 80), 1234, lambda data: None, state="waiting")
    take = serve_files(FILES, told.append)(connection)
    for one in pieces:
        take(one)
    return bytes(connection.unsent), connection.ending, told


def test_a_file() -> None:
    said, ending, told = ask(b"GET /latest/meta-data/instance-id HTTP/1.1\r\nHost: x\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 200 OK\r\n") and said.endswith(b"\r\n\r\ni-1") and not ending
    assert b"Content-Length: 3\r\n" in said and b"Date: Mon, 01 Jan 2024" in said
    assert told == []


def test_a_folder_is_listed_as_ec2_does() -> None:
    said, _, _ = ask(b"GET /latest/meta-data/ HTTP/1.1\r\n\r\n")
    assert said.endswith(b"\r\n\r\ninstance-id\nplacement/")


def test_what_is_not_there() -> None:
    said, _, told = ask(b"GET /nothing HTTP/1.1\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 404 ") and told == ["HTTP GET /nothing HTTP/1.1: 404"]
    assert ask(b"GET /nothing/ HTTP/1.1\r\n\r\n")[0].startswith(b"HTTP/1.1 404 ")
    assert ask(b"DELETE /user-data HTTP/1.1\r\n\r\n")[0].startswith(b"HTTP/1.1 501 ")
    assert ask(b"PUT /user-data HTTP/1.1\r\nContent-Length: 0\r\n\r\n")[0].startswith(b"HTTP/1.1 405 ")


def test_a_token_is_given_to_whoever_asks() -> None:
    said, _, _ = ask(b"PUT /latest/api/token HTTP/1.1\r\nX-aws-ec2-metadata-token-ttl-seconds: 60\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 200 ") and said.endswith(b"\r\n\r\nbootlab")
    assert b"\r\nX-aws-ec2-metadata-token-ttl-seconds: 60\r\n" in said


def test_nothing_is_said_behind_the_end() -> None:
    last = b"GET /user-data HTTP/1.0\r\n\r\n"
    assert ask(last, last)[0].count(b"200 OK") == 1


def test_a_head_has_the_size_and_no_more() -> None:
    said, _, _ = ask(b"HEAD /user-data HTTP/1.1\r\n\r\n")
    assert b"Content-Length: 9\r\n" in said and said.endswith(b"\r\n\r\n")


def test_requests_may_come_in_pieces_and_several_at_once() -> None:
    request = b"GET /user-data HTTP/1.1\r\n\r\nGET /latest/meta-data/instance-id?x=1 HTTP/1.1\r\n\r\n"
    said, _, told = ask(*(request[at : at + 1] for at in range(len(request))))
    assert (said.count(b"HTTP/1.1 200 OK"), told) == (2, [])


def test_the_connection_ends_where_the_guest_wants_that() -> None:
    assert ask(b"GET /user-data HTTP/1.0\r\n\r\n")[1]
    assert ask(b"GET /user-data HTTP/1.1\r\nConnection: close\r\n\r\n")[1]
    assert ask(b"")[1]


@pytest.mark.parametrize("request_bytes", [b"\r\n\r\n", b"GET\r\n\r\n", b"\xff\x00 /\r\n\r\n", b"x" * 70_000])
def test_what_is_no_request_ends_the_connection(request_bytes: bytes) -> None:
    _, ending, told = ask(request_bytes)
    assert ending and len(told) == 1


def test_the_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    (tmp_path / "latest" / "user-data").write_bytes(b"x")
    assert read_folder(tmp_path) == {"/latest/user-data": b"x"}
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file in it"):
        read_folder(tmp_path / "empty")
    with pytest.raises(InputError, match="no such folder"):
        read_folder(tmp_path / "nothing")


def test_more_than_a_cloud_would_give_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate((1 << 24) + 1)
    with pytest.raises(InputError, match="more than 16 MiB"):
        read_folder(tmp_path)
