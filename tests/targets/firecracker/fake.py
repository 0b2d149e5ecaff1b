"""A program that answers as a real Firecracker was recorded to (tests/data/firecracker), and runs no guest.

Its log's rows are the recorded ones with new stamps. What its guest says on the console, and how it ends, the variable
FAKE_FIRECRACKER says: a JSON object of the keys below.

    console: text behind InstanceStart    woken: text behind Resumed
    spoilt: place of the recorded answer to a snapshot that is wrong
    refuses: path -> recorded answer of a wrong request, by its place
    garbage: path that gets no JSON       dies: path before whose answer it is killed
    exits: code with which it ends behind its console    timer: the guest uses the boot timer
"""

import contextlib
import http.server
import json
import os
import re
import signal
import socketserver
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RECORDING = Path(__file__).parents[2] / "data" / "firecracker" / "api-1.15.1.json"
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}")


class Server(socketserver.UnixStreamServer):
    """The API's socket."""

    def get_request(self) -> Any:
        request, _ = super().get_request()
        return request, ("firecracker", 0)


class Fake:
    """One run of it. `words`: its command line."""

    def __init__(self, words: list[str]) -> None:
        self.recording = json.loads(RECORDING.read_text())
        self.asked = json.loads(os.environ.get("FAKE_FIRECRACKER", "{}"))
        self.options = {name: words[at + 1] for at, name in enumerate(words[:-1]) if name.startswith("--")}
        self.log_file = open(self.options["--log-path"], "w")  # noqa: SIM115 - as long as it lives

    def log(self, rows: list[str]) -> None:
        """Write rows of the log, stamped now."""
        for row in rows:
            now = time.time_ns()
            stamp = datetime.fromtimestamp(now // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")
            self.log_file.write(_STAMP.sub(f"{stamp}.{now % 10**9:09}", row) + "\n")
            self.log_file.flush()

    def rows(self, *, starting: bool) -> list[str]:
        """Return the recorded rows before a machine is started, or from there on."""
        rows = self.recording["log"]
        at = next(index for index, row in enumerate(rows) if "event_start: build" in row)
        return rows[at:] if starting else rows[:at]

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Return the recorded answer to a request."""
        if path == self.asked.get("dies"):
            os.kill(os.getpid(), signal.SIGKILL)
        if path == self.asked.get("garbage"):
            return 200, b"<html>"
        if path == "/snapshot/load" and "spoilt" in self.asked:
            wrong = self.recording["snapshot_refused"][self.asked["spoilt"]]
            return wrong["status"], wrong["reply"].encode()
        if path in self.asked.get("refuses", {}):
            wrong = self.recording["exchange"][self.asked["refuses"][path]]
            return wrong["status"], wrong["reply"].encode()
        document = json.loads(body or b"{}")
        action = document.get("action_type")
        state = document.get("state")
        recorded = [*self.recording["started"], *self.recording["keeping"], *self.recording["taking_up"]]
        for one in [*recorded, *self.recording["exchange"][6:]]:
            wanted = one["body"] if isinstance(one["body"], dict) else {}
            if (one["method"], one["path"]) != (method, path):
                continue
            if (wanted.get("action_type"), wanted.get("state")) == (action, state):
                if action == "FlushMetrics":
                    Path(self.options["--metrics-path"]).write_text(self.recording["metrics"])
                if action == "InstanceStart":
                    self.log(self.rows(starting=True))
                    threading.Thread(target=self.guest, daemon=True).start()
                self.act(path, document)
                return one["status"], one["reply"].encode()
        return 500, b"this request was not recorded"

    def act(self, path: str, asked: dict[str, Any]) -> None:
        """Do what a snapshot's request does: write it, or go on from it."""
        rows = self.recording["taking_up_log"]
        resumed = next(at for at, row in enumerate(rows) if '"/vm"' in row)
        told = Path("clone").read_bytes() if Path("clone").exists() else b"bootlab-clone 1\n"
        if path == "/snapshot/create":
            Path(asked["mem_file_path"]).write_bytes(bytes(8192) + told)
            Path(asked["snapshot_path"]).write_bytes(b"state")
        elif path == "/snapshot/load":
            # It has each disk by the path that it had, and the memory.
            assert Path(asked["mem_backend"]["backend_path"]).read_bytes()[8192:].startswith(b"bootlab-clone 1")
            self.log([row for row in rows[:resumed] if "Running" not in row])
        elif path == "/vm" and asked["state"] == "Resumed":
            self.log(rows[resumed:])
            text = self.asked.get("woken", "").replace("IDENTITY", told.decode().split("\n")[1])
            os.write(1, text.encode())

    def guest(self) -> None:
        """Say what the guest says, and end as it ends."""
        if self.asked.get("timer"):
            self.log([self.recording["boot_timer"]])
        os.write(1, self.asked.get("console", "").encode())
        if "exits" in self.asked:
            # The console is read before its end is.
            time.sleep(0.05)
            os._exit(self.asked["exits"])

    def run(self) -> None:
        """Serve until somebody ends it."""
        self.log(self.rows(starting=False))
        if "--config-file" in self.options:
            json.loads(Path(self.options["--config-file"]).read_text())
            self.log(self.rows(starting=True))
            self.guest()
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

            do_PATCH = do_PUT

        class Threads(socketserver.ThreadingMixIn, Server):
            daemon_threads = True

        with Threads(self.options["--api-sock"], Handler) as server:
            server.serve_forever()


if __name__ == "__main__":
    if "--version" in sys.argv:
        print(json.loads(RECORDING.read_text())["version"], end="")
    else:
        Fake(sys.argv[1:]).run()
