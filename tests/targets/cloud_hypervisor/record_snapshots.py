"""Records what a real Cloud Hypervisor says of machines that are kept and taken up.

`python -m tests.targets.cloud_hypervisor.record_snapshots BINARY FILE`: in an emulated machine with AMD's SVM, for it
asks KVM for the state of nested guests, which not every host's tells. What it says on this host is recorded beside.
"""

import ctypes
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.snapshot.identity import no_clone
from bootlab.snapshot.refusals import RAM, STATE, MemoryForm
from bootlab.system import BootFiles, CloudHypervisor, System
from bootlab.targets.cloud_hypervisor.configuration import (
    BOOT,
    BootPlaces,
    cloud_hypervisor_argv,
    configuring_calls,
    machine_document,
)
from bootlab.targets.cloud_hypervisor.snapshots import CONFIGURATION, PAUSE, RESUME, CloudHypervisorSnapshot
from bootlab.targets.vmm.disks import CLONE_DRIVE
from tests.targets.cloud_hypervisor.record_api import SYSTEM, await_socket, launched
from tests.targets.firecracker.record_api import ask_all
from tests.targets.vmm.tiny_guest import STAY, tiny_kernel

MEMORY_MIB = 32
SPOILT: dict[str, Callable[[bytes], bytes]] = {
    CONFIGURATION: lambda whole: whole[: len(whole) // 2],
    STATE: lambda whole: whole[: len(whole) // 2],
    RAM: lambda whole: whole[:4096],
}
"""What is wrong with a file of a snapshot: cut off."""
INSIDE = """
import json, time
from tests.targets.cloud_hypervisor.record_snapshots import record
print("bootlab: fact recorded " + json.dumps(record("/cloud-hypervisor")), flush=True)
print("bootlab: check ok", flush=True)
time.sleep(3600)
"""


class Recorder:
    """One folder with a machine that is kept and taken up in it. `target`: with its binary."""

    def __init__(self, folder: Path, binary: str) -> None:
        values = {**SYSTEM, "machine": {"memory_mib": MEMORY_MIB}, "snapshot": {}}
        self.system = System.model_validate(values)
        assert isinstance(self.system.target, CloudHypervisor)
        self.target = self.system.target.model_copy(update={"binary": binary})
        self.folder, self.kept = folder, folder / "snapshot"
        self.kept.mkdir()
        (folder / "kernel").write_bytes(tiny_kernel(STAY))
        (folder / "disk0").write_bytes(bytes(1 << 20))
        (folder / CLONE_DRIVE).write_bytes(no_clone())
        self.places = BootPlaces(folder, folder / "log", folder / "events", folder / "api")
        self.document = machine_document(self.system, self.target, BootFiles(kernel=folder / "kernel"))

    @contextmanager
    def running(self) -> Iterator[Path]:
        """Give the socket of one that has no machine yet."""
        assert self.places.socket is not None
        with launched(cloud_hypervisor_argv(self.target, self.places, self.document), self.places) as process:
            yield await_socket(process, self.places.socket)
            time.sleep(0.2)
        self.places.socket.unlink()

    def keep(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
        """Return what is said of one that runs, then of one that stands still, and the log."""
        asked = CloudHypervisorSnapshot(self.system, KeepRequest("ready", self.kept), None, self.folder)
        with self.running() as path:
            ask_all(path, [*configuring_calls(self.document), BOOT])
            time.sleep(1)
            wrong = ask_all(path, [asked.creating()])
            keeping = ask_all(path, [PAUSE, asked.creating()])
            time.sleep(0.2)
            log = self.rows()
        if keeping[-1]["status"] == 204:
            asked.take_in()
        return wrong, keeping, log

    def keep_on_full_disk(self) -> list[dict[str, Any]]:
        """Return what is said of a machine that does not fit where it is to go; needs root."""
        full = self.folder / "full"
        full.mkdir()
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.mount(b"tmpfs", os.fsencode(full), b"tmpfs", 0, b"size=8m") == 0, os.strerror(ctypes.get_errno())
        try:
            with self.running() as path:
                ask_all(path, [*configuring_calls(self.document), BOOT])
                time.sleep(1)
                asked = CloudHypervisorSnapshot(self.system, KeepRequest("ready", full), None, self.folder)
                return ask_all(path, [PAUSE, asked.creating()])[1:]
        finally:
            libc.umount(os.fsencode(full))

    def take_up(self, *, resume: bool, **target: object) -> tuple[list[dict[str, Any]], list[str]]:
        """Return what is said of a machine that is taken up, and the log."""
        restored = Restored(self.kept, MemoryForm.FILE, 0, None, None)
        asked = CloudHypervisorSnapshot(self.system, None, restored, self.folder)
        loading = asked.loading(self.target.model_copy(update=target))
        with self.running() as path:
            said = ask_all(path, [loading, RESUME] if resume else [loading])
            time.sleep(0.2)
            return said, self.rows()

    def rows(self) -> list[str]:
        """Return the log as it is by now."""
        return self.places.log.read_bytes().decode().split("\r\n")


def record(binary: str) -> dict[str, Any]:
    """Return what it says of machines that are kept and taken up, rightly and wrongly."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recorder = Recorder(folder, binary)
        wrong, keeping, keeping_log = recorder.keep()
        assert all(one["status"] == 204 for one in keeping), keeping
        wrong += recorder.keep_on_full_disk()
        restored = Restored(recorder.kept, MemoryForm.FILE, 0, None, None)
        CloudHypervisorSnapshot(recorder.system, None, restored, folder).put_links()
        taking_up, log = recorder.take_up(resume=True)
        on_demand, _ = recorder.take_up(resume=True, memory_restore_mode="ondemand")
        assert all(one["status"] == 204 for one in [*taking_up, *on_demand]), (taking_up, on_demand)
        for one, spoil in SPOILT.items():
            whole = (recorder.kept / one).read_bytes()
            (recorder.kept / one).write_bytes(spoil(whole))
            wrong += recorder.take_up(resume=False)[0]
            (recorder.kept / one).write_bytes(whole)
        (folder / "disk0").unlink()
        wrong += recorder.take_up(resume=False)[0]
        linux = ".".join(platform.release().split(".")[:2])
        found = {
            "recorded": f"{platform.machine()}, Linux {linux}, in an emulated machine with SVM",
            "keeping": keeping,
            "keeping_log": keeping_log,
            "taking_up": taking_up,
            "taking_up_log": log,
            "on_demand": on_demand,
            "snapshot_refused": wrong,
        }
        replaced: dict[str, Any] = json.loads(json.dumps(found).replace(str(folder), "/folder"))
        return replaced


def record_inside(binary: str, folder: Path) -> dict[str, Any]:
    """Return the same out of a machine that can do all of it."""
    from tests.boot.machines.nested_kvm.verbs_inside import run_inside
    from tests.boot.vmms.nested_vmms import nested_host

    tree = nested_host(folder, {"cloud-hypervisor": Path(binary)}, ("cp", "setpriv"))
    for module in ("cloud_hypervisor/record_snapshots", "cloud_hypervisor/record_api", "firecracker/record_api"):
        tree.put(Path(__file__).parents[1] / f"{module}.py", f"/checkout/tests/targets/{module}.py")
    tree.put(Path(__file__).parents[1] / "vmm" / "tiny_guest.py", "/checkout/tests/targets/vmm/tiny_guest.py")
    tree.at("/inside.py").write_text(INSIDE)
    return dict(run_inside(tree, {}, folder, 600)["recorded"])


def refused_here(binary: str) -> list[dict[str, Any]]:
    """Return what is said of a snapshot on this host, whose KVM does not tell the state of nested guests."""
    with tempfile.TemporaryDirectory() as name:
        _, keeping, _ = Recorder(Path(name), binary).keep()
        assert keeping[-1]["status"] != 204, "this host's KVM tells it"
        refused: list[dict[str, Any]] = json.loads(json.dumps(keeping[-1:]).replace(name, "/folder"))
        return refused


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        kept = record_inside(sys.argv[1], Path(place))
    kept["snapshot_refused"] += refused_here(sys.argv[1])
    Path(sys.argv[2]).write_text(json.dumps(kept, indent=1) + "\n")
    print([(one["path"], one["status"], one["reply"][:200]) for one in kept["snapshot_refused"]])
