"""What fake VMMs share: a log that is stamped now, a console, and answers as a real program was recorded to give them.

What the guest says, and what goes wrong, is in a variable of the environment, as JSON:

    console: text behind the request that starts it     woken: behind the one by which a kept machine goes on
    refuses: path -> recorded answer of a wrong request, by its place
    garbage: path that gets no JSON       dies: path before whose answer it is killed
    silent: path that gets no answer, and the file that is there as soon as it was asked for
    exits: code with which it ends behind its console
"""

import contextlib
import http.server
import json
import os
import signal
import socketserver
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Server(socketserver.UnixStreamServer):
    """The API's socket."""

    def get_request(self) -> Any:
        request, _ = super().get_request()
        return request, ("vmm", 0)


class FakeVmm:
    """One run of it. `words`: its command line; `asked`: the environment's variable."""

    log_option: str
    socket_option: str

    def __init__(self, recording: Path, asked: str, words: list[str]) -> None:
        self.recording = json.loads(recording.read_text())
        self.enter()
        self.asked = json.loads(os.environ.get(asked, "{}"))
        self.options = {name: words[at + 1] for at, name in enumerate(words[:-1]) if name.startswith("--")}
        self.log_file = open(self.options[self.log_option], "w", newline="")  # noqa: SIM115 - as long as it lives

    def enter(self) -> None:
        """Go where it runs: once it has its recording, and before it opens anything else."""
        return None

    def stamped(self, row: str, ns: int) -> str:
        """Return a recorded row of the log, stamped anew, `ns` since 1970, and ended as it ends them."""
        raise NotImplementedError

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Return the recorded answer to a request that is as it should be, and do what it asks for."""
        raise NotImplementedError

    def start_at_once(self) -> None:
        """Start the machine that the command line has."""
        raise NotImplementedError

    def log(self, rows: Sequence[str]) -> None:
        """Write rows of the log, stamped now."""
        for row in rows:
            self.log_file.write(self.stamped(row, time.time_ns()))
            self.log_file.flush()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Return the answer to a request, right or wrong."""
        if path == self.asked.get("dies"):
            os.kill(os.getpid(), signal.SIGKILL)
        if path == self.asked.get("silent", [""])[0]:
            Path(self.asked["silent"][1]).touch()
            time.sleep(600)
        if path == self.asked.get("garbage"):
            return 200, b"<html>"
        if path in self.asked.get("refuses", {}):
            wrong = self.recording["exchange"][self.asked["refuses"][path]]
            return wrong["status"], wrong["reply"].encode()
        return self.reply(method, path, body)

    def told(self) -> bytes:
        """Return what the guest reads of who it is."""
        return Path("clone").read_bytes() if Path("clone").exists() else b"bootlab-clone 1\n"

    def wake(self) -> None:
        """Say what a machine says that was taken up and goes on."""
        text = str(self.asked.get("woken", "")).replace("IDENTITY", self.told().decode().split("\n")[1])
        os.write(1, text.encode())

    def guest(self) -> None:
        """Say what the guest says, and end as it ends."""
        os.write(1, self.asked.get("console", "").encode())
        if "exits" in self.asked:
            # The console is read before its end is.
            time.sleep(0.05)
            os._exit(self.asked["exits"])

    def run(self) -> None:
        """Serve until somebody ends it."""
        if self.socket_option not in self.options:
            self.start_at_once()
            while True:
                time.sleep(60)
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, said = fake.answer(self.command, self.path, body)
                self.send_response_only(status)
                if status != 204:
                    self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):
                    self.wfile.write(said)

            do_PATCH = do_GET = do_PUT

        class Threads(socketserver.ThreadingMixIn, Server):
            daemon_threads = True

        with Threads(self.options[self.socket_option], Handler) as server:
            server.serve_forever()
