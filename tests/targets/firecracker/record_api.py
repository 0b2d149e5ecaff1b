"""Records what a real Firecracker answers: `python -m tests.targets.firecracker.record_api BINARY KERNEL FILE`.

BINARY is Firecracker's, KERNEL any vmlinux that it takes, FILE the recording that the tests replay. Needs /dev/kvm to
open; whether guests run there does not matter: all is recorded but what a guest does.
"""

import http.client
import json
import platform
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.snapshot.identity import no_clone
from bootlab.snapshot.refusals import RAM, STATE, MemoryForm
from bootlab.system import BootFiles, Firecracker, System
from bootlab.targets.firecracker.configuration import (
    FLUSH,
    START,
    MachinePlaces,
    configuring_calls,
    firecracker_argv,
)
from bootlab.targets.firecracker.snapshots import PAUSE, RESUME, SnapshotFolder
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.disks import CLONE_DRIVE

NOWHERE = "/nowhere"
# A guest's doing, and none runs where this is recorded: as src/vmm/src/devices/pseudo/boot_timer.rs of 1.15 prints it.
BOOT_TIMER = (
    "2026-11-26T23:25:50.700000000 [bootlab:fc_vcpu 0:INFO] Guest-boot-time =  41234 us 41 ms,  39000 CPU us 39 CPU ms"
)
SPOILT: dict[str, Callable[[bytes], bytes]] = {
    RAM: lambda whole: whole[:4096],
    STATE: lambda whole: whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
}
"""What is wrong with a file of a snapshot: cut off, a bit turned."""
SYSTEM = {
    "name": "recorded",
    "target": {"kind": "firecracker", "tap": "bootlab-none"},
    "kernel": {"image": "KERNEL", "cmdline": "console=ttyS0 panic=-1"},
    "network": {},
    "disks": [{"size_mib": 1}],
    "snapshot": {},
    "booted": {"mark": "ready"},
}


def ask(path: Path, method: str, where: str, body: Any) -> dict[str, Any]:
    """Send one request and return it with its whole answer."""
    connection = http.client.HTTPConnection("localhost", timeout=30)
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.sock.connect(str(path))
    text = body if isinstance(body, str) or body is None else json.dumps(body)
    connection.request(method, where, text)
    reply = connection.getresponse()
    said = reply.read().decode()
    connection.close()
    return {"method": method, "path": where, "body": body, "status": reply.status, "reply": said}


@contextmanager
def launched(target: Firecracker, places: MachinePlaces) -> Iterator[Path]:
    """Give the API socket of a Firecracker that is killed in the end; its log begins anew."""
    places.log.write_text("")
    places.metrics.touch()
    assert places.socket is not None
    places.socket.unlink(missing_ok=True)
    process = subprocess.Popen(
        firecracker_argv(target, places, time.monotonic_ns() // 1000), cwd=places.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"TZ": "UTC0"},
    )  # fmt: skip
    try:
        until = time.monotonic() + 30
        while not places.socket.exists():
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.01)
        yield places.socket
        time.sleep(0.2)
    finally:
        process.kill()
        process.communicate()


def ask_all(socket_path: Path, calls: Iterable[ApiCall]) -> list[dict[str, Any]]:
    """Send requests one after the other."""
    return [ask(socket_path, call.method, call.path, call.body) for call in calls]


def record_snapshots(target: Firecracker, places: MachinePlaces, configuring: list[ApiCall]) -> dict[str, Any]:
    """Return what is said of a machine that is kept and taken up, rightly and wrongly."""
    kept = places.folder / "kept"
    kept.mkdir()
    system = System.model_validate(json.loads(json.dumps(SYSTEM)))
    creating = SnapshotFolder(system, KeepRequest("snapshot", kept), None, places.folder).creating()
    restored = Restored(kept, MemoryForm.FILE, 0, None, None)
    loading = SnapshotFolder(system, None, restored, places.folder).loading(target)
    with launched(target, places) as path:
        ask_all(path, [*configuring, START])
        # Of a machine that runs; then as it has to be.
        wrong = ask_all(path, [creating])
        keeping = ask_all(path, [PAUSE, creating, FLUSH])
    assert all(one["status"] == 204 for one in keeping), keeping
    with launched(target, places) as path:
        taking_up = ask_all(path, [loading, RESUME, FLUSH])
        time.sleep(0.2)
        log = places.log.read_text().splitlines()
    for name, spoil in SPOILT.items():
        with launched(target, places) as path:
            whole = (kept / name).read_bytes()
            (kept / name).write_bytes(spoil(whole))
            wrong += ask_all(path, [loading])
        (kept / name).write_bytes(whole)
    (places.folder / "disk0").unlink()
    with launched(target, places) as path:
        wrong += ask_all(path, [loading])
    return {"keeping": keeping, "taking_up": taking_up, "taking_up_log": log, "snapshot_refused": wrong}


def record(binary: str, kernel: str) -> dict[str, Any]:
    """Return the exchange, the log, and what Firecracker says when it is started wrongly."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        system = System.model_validate(json.loads(json.dumps(SYSTEM).replace("KERNEL", kernel)))
        target = system.target
        assert isinstance(target, Firecracker)
        target = target.model_copy(update={"binary": binary})
        (folder / "disk0").write_bytes(bytes(1 << 20))
        (folder / CLONE_DRIVE).write_bytes(no_clone())
        log, metrics = folder / "log", folder / "metrics"
        places = MachinePlaces(folder, log, metrics, folder / "api", folder / "configuration", (Path("disk0"),))
        calls = configuring_calls(system, target, BootFiles(kernel=Path(kernel)), places, {"a": "b"})
        # Without the tap that is not there.
        configuring = [one for one in calls if "network" not in one.path and "mmds" not in one.path]
        with launched(target, places) as path:
            exchange = []
            for wrong in (
                ("PUT", "/boot-source", {"kernel_image_path": NOWHERE, "boot_args": ""}),
                ("PUT", "/machine-config", {"vcpu_count": 0, "mem_size_mib": 128}),
                ("PUT", "/drives/disk0", {"drive_id": "disk0", "path_on_host": NOWHERE, "is_root_device": False}),
                ("PUT", "/nowhere", {}),
                ("PUT", "/boot-source", "{"),
                (START.method, START.path, START.body),
                *((call.method, call.path, call.body) for call in calls),
                ("GET", "/version", None),
            ):
                exchange.append(ask(path, *wrong))
        with launched(target, places) as path:
            started = ask_all(path, [*configuring, START, FLUSH])
            time.sleep(0.2)
        rows, metric_rows = log.read_text().splitlines(), metrics.read_text()
        snapshots = record_snapshots(target, places, configuring)
        in_use = subprocess.run(
            firecracker_argv(target, places), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
        )
        version = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=30).stdout
        release = ".".join(platform.release().split(".")[:2])
        document = {
            "version": version,
            "recorded": f"{platform.machine()}, Linux {release}, whose /dev/kvm opens",
            "boot_timer": BOOT_TIMER,
            "exchange": exchange,
            "started": started,
            "log": rows,
            "metrics": metric_rows,
            **snapshots,
            "socket_in_use": {"code": in_use.returncode, "stderr": in_use.stderr, "stdout": in_use.stdout},
        }
        text = json.dumps(document).replace(str(folder), "/folder").replace(kernel, "/folder/kernel")
        found: dict[str, Any] = json.loads(text)
        return found


if __name__ == "__main__":
    found = record(*sys.argv[1:3])
    Path(sys.argv[3]).write_text(json.dumps(found, indent=1) + "\n")
    print(f"{len(found['exchange'])} requests, {len(found['log'])} rows of the log")
