"""A program that answers as a real Firecracker was recorded to (tests/data/firecracker), and runs no guest.

Its log's rows are the recorded ones with new stamps. It takes Firecracker's command line. What the guest says, and what
goes wrong, is in FAKE_FIRECRACKER (vmm/fake.py), and beside that:

    timer: the guest uses the boot timer    late: its log's first row is missing
    spoilt: place of the recorded answer to a snapshot that is wrong
"""

import json
import re
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.targets.vmm.fake import FakeVmm

RECORDING = Path(__file__).parents[2] / "data" / "firecracker" / "api-1.15.1.json"
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}")


class Fake(FakeVmm):
    """One run of it."""

    log_option = "--log-path"
    socket_option = "--api-sock"

    def __init__(self, words: list[str]) -> None:
        super().__init__(RECORDING, "FAKE_FIRECRACKER", words)
        self.log(self.rows(starting=False)[1 if self.asked.get("late") else 0 :])

    def stamped(self, row: str, ns: int) -> str:
        stamp = datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return _STAMP.sub(f"{stamp}.{ns % 10**9:09}", row) + "\n"

    def rows(self, *, starting: bool) -> list[str]:
        """Return the recorded rows before a machine is started, or from there on."""
        rows = self.recording["log"]
        at = next(index for index, row in enumerate(rows) if "event_start: build" in row)
        return rows[at:] if starting else rows[:at]

    def start_at_once(self) -> None:
        json.loads(Path(self.options["--config-file"]).read_text())
        self.log(self.rows(starting=True))
        self.guest()

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        if path == "/snapshot/load" and "spoilt" in self.asked:
            wrong = self.recording["snapshot_refused"][self.asked["spoilt"]]
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
        if path == "/snapshot/create":
            Path(asked["mem_file_path"]).write_bytes(bytes(8192) + self.told())
            Path(asked["snapshot_path"]).write_bytes(b"state")
        elif path == "/snapshot/load":
            # It has each disk by the path that it had, and the memory.
            assert Path(asked["mem_backend"]["backend_path"]).read_bytes()[8192:].startswith(b"bootlab-clone 1")
            self.log([row for row in rows[:resumed] if "Running" not in row])
        elif path == "/vm" and asked["state"] == "Resumed":
            self.log(rows[resumed:])
            self.wake()

    def guest(self) -> None:
        if self.asked.get("timer"):
            self.log([self.recording["boot_timer"]])
        super().guest()


if __name__ == "__main__":
    if "--version" in sys.argv:
        print(json.loads(RECORDING.read_text())["version"], end="")
    else:
        Fake(sys.argv[1:]).run()
