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
from pathlib import Path
from typing import Any

from bootlab.system import BootFiles, Firecracker, System
from bootlab.targets.firecracker.configuration import FLUSH, START, MachinePlaces, configuring_calls, firecracker_argv

NOWHERE = "/nowhere"
# A guest's doing, and none runs where this is recorded: as src/vmm/src/devices/pseudo/boot_timer.rs of 1.15 prints it.
BOOT_TIMER = (
    "2026-11-26T23:25:50.700000000 [bootlab:fc_vcpu 0:INFO] Guest-boot-time =  41234 us 41 ms,  39000 CPU us 39 CPU ms"
)
SYSTEM = {
    "name": "recorded",
    "target": {"kind": "firecracker", "tap": "bootlab-none"},
    "kernel": {"image": "KERNEL", "cmdline": "console=ttyS0 panic=-1"},
    "network": {},
    "disks": [{"size_mib": 1}],
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


def record(binary: str, kernel: str) -> dict[str, Any]:
    """Return the exchange, the log, and what Firecracker says when it is started wrongly."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        system = System.model_validate(json.loads(json.dumps(SYSTEM).replace("KERNEL", kernel)))
        target = system.target
        assert isinstance(target, Firecracker)
        target = target.model_copy(update={"binary": binary})
        disk = folder / "disk0"
        disk.write_bytes(bytes(1 << 20))
        log, metrics = folder / "log", folder / "metrics"
        log.touch(), metrics.touch()
        places = MachinePlaces(log, metrics, folder / "api", folder / "configuration", (disk,))
        process = subprocess.Popen(
            firecracker_argv(target, places, time.monotonic_ns() // 1000),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"TZ": "UTC0"},
        )  # fmt: skip
        until = time.monotonic() + 30
        while not (folder / "api").exists():
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.01)
        calls = configuring_calls(system, target, BootFiles(kernel=Path(kernel)), places, {"a": "b"})
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
            exchange.append(ask(folder / "api", *wrong))
        process.kill()
        stdout, stderr = process.communicate()
        # Again without the tap that is not there, and started.
        (folder / "api").unlink()
        log.write_text("")
        process = subprocess.Popen(
            firecracker_argv(target, places, time.monotonic_ns() // 1000),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"TZ": "UTC0"},
        )  # fmt: skip
        while not (folder / "api").exists():
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.01)
        started = [
            ask(folder / "api", call.method, call.path, call.body)
            for call in [*(one for one in calls if "network" not in one.path and "mmds" not in one.path), START, FLUSH]
        ]
        time.sleep(0.2)
        process.kill()
        process.communicate()
        rows = log.read_text().splitlines()
        metric_rows = metrics.read_text()
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
            "socket_in_use": {"code": in_use.returncode, "stderr": in_use.stderr, "stdout": in_use.stdout},
        }
        text = json.dumps(document).replace(str(folder), "/folder").replace(kernel, "/folder/kernel")
        return json.loads(text)


if __name__ == "__main__":
    found = record(*sys.argv[1:3])
    Path(sys.argv[3]).write_text(json.dumps(found, indent=1) + "\n")
    print(f"{len(found['exchange'])} requests, {len(found['log'])} rows of the log")
