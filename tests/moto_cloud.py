"""EC2 as moto's server has it, with a door before it that can refuse calls, hold them up and tell when each comes."""

import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

import pytest

IMAGE = "ami-03cf127a"
REGION = "eu-central-1"


class MotoCloud:
    """`refuse`: action -> codes that its next calls are refused with. `before`, `after`: told each action."""

    def __init__(self) -> None:
        server = pytest.importorskip("moto.server", reason="moto is not here: it is in the dev lock")
        self.refuse: dict[str, list[str]] = {}
        self.calls: list[str] = []
        self.before: Callable[[str], None] = lambda action: None
        self.after: Callable[[str], None] = lambda action: None
        self._moto = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._door = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to take this for EC2: an address, and the standard chain's credentials."""
        url = f"http://127.0.0.1:{self._door.server_address[1]}"
        return {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "AKIDTESTINGONLY",
            "AWS_SECRET_ACCESS_KEY": "secret-of-the-test",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def alive(self) -> list[str]:
        """Return the ids of the instances that are not terminated."""
        from moto.core import DEFAULT_ACCOUNT_ID
        from moto.ec2.models import ec2_backends

        backend: Any = ec2_backends[DEFAULT_ACCOUNT_ID][REGION]
        return [str(one.id) for one in backend.all_instances() if one.state not in ("terminated", "shutting-down")]

    def __enter__(self) -> Self:
        self._moto.start()
        threading.Thread(target=self._door.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._door.shutdown()
        self._door.server_close()
        self._moto.stop()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        cloud = self

        class Door(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                action = parse_qs(body.decode(errors="replace")).get("Action", [""])[0]
                cloud.calls.append(action)
                cloud.before(action)
                status, said = cloud._refusal(action) or cloud._passed_on(self.path, dict(self.headers), body)
                cloud.after(action)
                self.send_response(status)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, format: str, *words: object) -> None:
                """Say nothing."""

        return Door

    def _refusal(self, action: str) -> tuple[int, bytes] | None:
        codes = self.refuse.get(action)
        if not codes:
            return None
        code = codes.pop(0)
        status = 503 if code == "RequestLimitExceeded" else 403 if "Unauthorized" in code else 400
        said = f"<Response><Errors><Error><Code>{code}</Code><Message>you said {action}</Message></Error></Errors>"
        return status, f"{said}<RequestID>1</RequestID></Response>".encode()

    def _passed_on(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        host, port = self._moto.get_host_and_port()
        asked = urllib.request.Request(f"http://{host}:{port}{path}", data=body, headers=headers)
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
