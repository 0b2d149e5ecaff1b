"""A program that answers as a real Cloud Hypervisor was recorded to (tests/data/cloud-hypervisor), and runs no guest.

Its log's rows are the recorded ones with new stamps. It takes Cloud Hypervisor's command line. What the guest says, and
what goes wrong, is in FAKE_CLOUD_HYPERVISOR (vmm/fake.py), and beside that:

    ends: "off" or "reset", as the recorded guest ended
"""

import json
import os
import re
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.targets.vmm.fake import FakeVmm

RECORDING = Path(__file__).parents[2] / "data" / "cloud-hypervisor" / "api-53.0.json"
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class FakeCloudHypervisor(FakeVmm):
    """One run of it."""

    log_option = "--log-file"
    socket_option = "--api-socket"

    def __init__(self, words: list[str]) -> None:
        super().__init__(RECORDING, "FAKE_CLOUD_HYPERVISOR", words)
        self.end: dict[str, Any] = self.recording["ends"][self.asked.get("ends", "off")]
        rows = self.end["log"]
        booting = next(at for at, row in enumerate(rows) if "event = booting" in row)
        booted = next(at for at, row in enumerate(rows) if "event = booted" in row)
        self.before, self.starting, self.after = rows[:booting], rows[booting : booted + 1], rows[booted + 1 :]
        self.log(self.before)
        Path(self.options["--event-monitor"].removeprefix("path=")).write_text(self.end["events"])

    def stamped(self, row: str, ns: int) -> str:
        stamp = datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return _STAMP.sub(f"{stamp}.{ns % 10**9 // 1000:06}Z", row) + "\r\n"

    def start_at_once(self) -> None:
        self.log(self.starting)
        self.guest()

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        for one in self.recording["started"]:
            if (one["method"], one["path"]) == (method, path):
                if path.endswith("/vm.create"):
                    # Nothing is asked that the recorded one was not.
                    assert json.loads(body).keys() <= {*one["body"], "net"}
                if path.endswith("/vm.boot"):
                    self.log(self.starting)
                    threading.Thread(target=self.guest, daemon=True).start()
                if path.endswith("/vmm.shutdown"):
                    threading.Timer(0.05, os._exit, (0,)).start()
                return one["status"], one["reply"].encode()
        return 500, b"this request was not recorded"

    def guest(self) -> None:
        """Say what the guest says, on port 0x80, too, and end as it ended."""
        if self.asked.get("port"):
            self.log([row for row in self.after if "Debug I/O port" in row])
        super().guest()
        if "ends" in self.asked:
            time.sleep(0.05)
            self.log([row for row in self.after if row])
            if self.end["code"] is not None:
                os._exit(self.end["code"])


if __name__ == "__main__":
    if "--version" in sys.argv:
        print(json.loads(RECORDING.read_text())["version"], end="")
    else:
        FakeCloudHypervisor(sys.argv[1:]).run()
