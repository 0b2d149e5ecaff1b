"""What a cloud tells a machine about itself: the files of a folder over HTTP, as EC2 and cloud-init's NoCloud ask.

A path is a file of the folder; a path that ends in `/` lists one, in EC2's form. `PUT /latest/api/token` gives a token,
and no request needs one.
"""

import io
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import MappingProxyType
from typing import Final

from bootlab.errors import InputError
from bootlab.network.tcp import Connection, Serve
from bootlab.system.part import brief

PORT: Final = 80
_TOKEN_PATH: Final = "/latest/api/token"
_TOKEN: Final = b"bootlab"
_TTL_HEADER: Final = "X-aws-ec2-metadata-token-ttl-seconds"
_DATE: Final = "Mon, 01 Jan 2024 00:00:00 GMT"
_FOUND: Final = 200
_MOST_BYTES: Final = 1 << 24
_HEAD_MOST: Final = 1 << 16


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the files under a folder by the path that asks for them. Raises InputError for one that cannot be had."""
    files: dict[str, bytes] = {}
    try:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder", hint="network.metadata names a folder of files")
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                files["/" + path.relative_to(folder).as_posix()] = path.read_bytes()
    except OSError as error:
        raise InputError(f"{error.filename or folder}: {error.strerror or error}") from error
    if not files:
        raise InputError(f"{folder}: no file in it", hint="network.metadata names a folder of files; or leave it out")
    if sum(map(len, files.values())) > _MOST_BYTES:
        raise InputError(f"{folder}: more than {_MOST_BYTES >> 20} MiB of metadata")
    return files


def serve_files(files: Mapping[str, bytes], tell: Callable[[str], object]) -> Serve:
    """Return what answers each connection with these files; `tell` gets a line for each request that has none."""

    def serve(connection: Connection) -> Callable[[bytes], None]:
        return _Requests(connection, files, tell).take

    return serve


class _Requests:
    """The requests of one connection, each answered when it is whole."""

    def __init__(self, connection: Connection, files: Mapping[str, bytes], tell: Callable[[str], object]) -> None:
        self._connection, self._files, self._tell = connection, files, tell
        self._asked = bytearray()

    def take(self, data: bytes) -> None:
        if self._connection.ending:
            # A request behind the last one has no answer.
            return
        self._asked += data
        if not data:
            self._connection.close()
            return
        while (size := _request_size(self._asked)) is not None:
            request, self._asked = bytes(self._asked[:size]), self._asked[size:]
            answered = _Answer(request, self._files)
            if answered.status != _FOUND:
                self._tell(answered.line)
            self._connection.send(answered.said)
            if answered.close_connection:
                self._connection.close()
                return


def _request_size(asked: bytes | bytearray) -> int | None:
    head, found, _ = asked.partition(b"\r\n\r\n")
    if not found:
        # Too long for a request: answered as the bad one that it is.
        return len(asked) if len(asked) > _HEAD_MOST else None
    size = len(head) + 4
    for line in head.lower().split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip() == b"content-length" and value.strip().isdigit():
            size += min(int(value), _MOST_BYTES)
    return size if len(asked) >= size else None


class _Answer(BaseHTTPRequestHandler):
    """One request answered, from bytes to bytes."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "bootlab", ""

    def __init__(self, request: bytes, files: Mapping[str, bytes]) -> None:
        # Not through socketserver: nothing here is a socket.
        self._said = io.BytesIO()
        self.rfile, self.wfile = io.BytesIO(request), self._said
        self.client_address, self.files, self.status = ("guest", 0), files, 0
        self.requestline = ""
        self.handle_one_request()

    @property
    def said(self) -> bytes:
        return self._said.getvalue()

    @property
    def line(self) -> str:
        """Return what was asked, and the status of the answer."""
        return f"HTTP {brief(self.requestline) or 'unreadable'}: {self.status}"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        data = self.files.get(path)
        if data is None and path.endswith("/"):
            data = self._list(path)
        if data is None:
            self._say(404, b"404 - Not Found\n")
        else:
            self._say(200, data)

    do_HEAD = do_GET

    def do_PUT(self) -> None:
        if self.path == _TOKEN_PATH:
            # SDKs want to hear for how long: without, that of Go takes no token.
            ttl = self.headers.get(_TTL_HEADER, "")
            self._say(200, _TOKEN, {_TTL_HEADER: ttl} if ttl.isdecimal() else {})
        else:
            self._say(405, b"")

    def _list(self, folder: str) -> bytes | None:
        names = {
            rest.partition("/")[0] + ("/" if "/" in rest else "")
            for path in self.files
            if path.startswith(folder) and (rest := path.removeprefix(folder))
        }
        return "\n".join(sorted(names)).encode() if names else None

    def _say(self, status: int, data: bytes, more: Mapping[str, str] = MappingProxyType({})) -> None:
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_response(self, code: int, message: str | None = None) -> None:
        self.status = int(code)
        super().send_response(code, message)

    def date_time_string(self, timestamp: float | None = None) -> str:
        # The host's date would make each boot another one.
        return _DATE

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing here: whoever serves tells what was asked."""
