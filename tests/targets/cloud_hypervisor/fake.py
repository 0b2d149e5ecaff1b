"""A program that answers as a real Cloud Hypervisor was recorded to (tests/data/cloud-hypervisor), and runs no guest.

Its log's rows are the recorded ones with new stamps. It takes Cloud Hypervisor's command line. What the guest says, and
what goes wrong, is in FAKE_CLOUD_HYPERVISOR (vmm/fake.py), and beside that:

    ends: "off" or "reset", as the recorded guest ended
    spoilt: place of the recorded answer to a snapshot that is not made or not taken up
    half: name of a file of the snapshot that it writes by half, and says nothing of
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
SNAPSHOTS = RECORDING.with_name("snapshots-53.0.json")
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class FakeCloudHypervisor(FakeVmm):
    """One run of it."""

    log_option = "--log-file"
    socket_option = "--api-socket"

    def __init__(self, words: list[str]) -> None:
        super().__init__(RECORDING, "FAKE_CLOUD_HYPERVISOR", words)
        self.snapshots = json.loads(SNAPSHOTS.read_text())
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
        if path.endswith(("/vm.snapshot", "/vm.restore")) and "spoilt" in self.asked:
            wrong = self.snapshots["snapshot_refused"][self.asked["spoilt"]]
            if wrong["path"] == path:
                return wrong["status"], wrong["reply"].encode()
        for one in [*self.snapshots["keeping"], *self.snapshots["taking_up"]]:
            if (one["method"], one["path"]) == (method, path):
                self.act(path, json.loads(body or b"{}"))
                return one["status"], one["reply"].encode()
        for one in self.recording["started"]:
            if (one["method"], one["path"]) == (method, path):
                if path.endswith("/vm.create"):
                    # Nothing is asked that the recorded one was not.
                    self.document = json.loads(body)
                    assert self.document.keys() <= {*one["body"], "net"}
                if path.endswith("/vm.boot"):
                    self.log(self.starting)
                    threading.Thread(target=self.guest, daemon=True).start()
                if path.endswith("/vmm.shutdown"):
                    threading.Timer(0.05, os._exit, (0,)).start()
                return one["status"], one["reply"].encode()
        return 500, b"this request was not recorded"

    def act(self, path: str, asked: dict[str, Any]) -> None:
        """Do what a snapshot's request does: write it, or go on from it."""
        rows = self.snapshots["taking_up_log"]
        resuming = next(at for at, row in enumerate(rows) if "VmResume" in row)
        if path.endswith("/vm.snapshot"):
            folder = Path(asked["destination_url"].removeprefix("file://"))
            size = self.document["memory"]["size"]
            memory = folder / "memory-ranges"
            for one in (folder / "config.json", folder / "state.json", memory):
                assert not one.exists()
                one.write_bytes(self.told() if one == memory else json.dumps(self.document).encode())
            os.truncate(memory, size)
            if "half" in self.asked:
                os.truncate(folder / self.asked["half"], 40)
        elif path.endswith("/vm.restore"):
            folder = Path(asked["source_url"].removeprefix("file://"))
            # It has each disk by the path that it had, and the memory.
            assert all(Path(one["path"]).exists() for one in json.loads((folder / "config.json").read_text())["disks"])
            assert (folder / "memory-ranges").read_bytes().startswith(b"bootlab-clone 1")
            self.log([row for row in rows[:resuming] if "VmRestore" in row or "event = rest" in row])
        elif path.endswith("/vm.resume"):
            self.log([row for row in rows[resuming:] if row])
            self.wake()

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
