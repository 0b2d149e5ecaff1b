"""Records what a real Cloud Hypervisor answers: `python -m tests.targets.cloud_hypervisor.record_api BINARY FILE`.

BINARY is Cloud Hypervisor's, FILE the recording that the tests replay. Needs a /dev/kvm that opens and runs the fifty
bytes of tests/targets/vmm/tiny_guest.py, as one does that is too slow for a kernel.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bootlab.system import BootFiles, CloudHypervisor, System
from bootlab.targets.cloud_hypervisor.configuration import (
    BOOT,
    CREATE,
    SHUT_DOWN,
    BootPlaces,
    cloud_hypervisor_argv,
    configuring_calls,
    machine_document,
)
from bootlab.targets.cloud_hypervisor.session import CloudHypervisorSession
from bootlab.targets.vmm.api import ApiCall
from tests.targets.firecracker.record_api import ask, ask_all
from tests.targets.vmm.tiny_guest import OFF, RESET, SAYS, tiny_kernel

NOWHERE = "/nowhere"
DELETE = ApiCall("PUT", "/api/v1/vm.delete")
SYSTEM = {
    "name": "recorded",
    "target": {"kind": "cloud-hypervisor"},
    "kernel": {"image": "kernel", "cmdline": "console=ttyS0"},
    "disks": [{"size_mib": 1}],
    "booted": {"mark": "ready"},
}


@contextmanager
def launched(argv: list[str], places: BootPlaces) -> Iterator["subprocess.Popen[bytes]"]:
    """Give a Cloud Hypervisor that is killed in the end; its log begins anew."""
    places.log.unlink(missing_ok=True)
    process = subprocess.Popen(
        argv, cwd=places.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **CloudHypervisorSession.environment},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def await_socket(process: "subprocess.Popen[bytes]", path: Path) -> Path:
    """Wait until an API's socket is there."""
    until = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    time.sleep(0.2)
    return path


def record(binary: str) -> dict[str, Any]:
    """Return the exchange, the log, the events, and what Cloud Hypervisor says when it is started wrongly."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernel = folder / "kernel"
        system = System.model_validate(SYSTEM)
        assert isinstance(system.target, CloudHypervisor)
        target = system.target.model_copy(update={"binary": binary})
        (folder / "disk0").write_bytes(bytes(1 << 20))
        places = BootPlaces(folder, folder / "log", folder / "events", folder / "api")
        assert places.socket is not None
        document = machine_document(system, target, BootFiles(kernel=kernel))
        calls = configuring_calls(document)
        argv = cloud_hypervisor_argv(target, places, document)
        lost = {**document, "payload": {**document["payload"], "kernel": NOWHERE}}
        kernel.write_bytes(tiny_kernel(OFF))
        wrong = [
            ("PUT", CREATE, "{"),
            ("PUT", CREATE, {**document, "cpus": {"boot_vcpus": 2}}),
            ("PUT", "/api/v1/nowhere", {}),
            ("GET", CREATE, None),
            (BOOT.method, BOOT.path, None),
            *((ask_for.method, ask_for.path, ask_for.body) for ask_for in configuring_calls(lost)),
            (BOOT.method, BOOT.path, None),
            ("PUT", CREATE, document),
            (DELETE.method, DELETE.path, None),
            ("PUT", CREATE, {**document, "disks": [{"id": "disk0", "path": NOWHERE}]}),
            (BOOT.method, BOOT.path, None),
            (DELETE.method, DELETE.path, None),
            ("PUT", CREATE, {**document, "net": [{"tap": "bootlab-none"}]}),
            (BOOT.method, BOOT.path, None),
        ]
        with launched(argv, places) as process:
            path = await_socket(process, places.socket)
            exchange = [ask(path, *one) for one in wrong]
            in_use = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        places.socket.unlink(missing_ok=True)
        ends: dict[str, Any] = {}
        for how, end in (("off", OFF), ("reset", RESET)):
            kernel.write_bytes(tiny_kernel(end))
            with launched(argv, places) as process:
                path = await_socket(process, places.socket)
                started = ask_all(path, [*calls, BOOT])
                time.sleep(2)
                rows = places.log.read_bytes().decode().split("\r\n")
                again = [at for at, row in enumerate(rows) if "event = rebooting" in row]
                ends[how] = {
                    "code": process.poll(),
                    # It goes on for ever.
                    "log": rows[: again[0] + 1] if again else rows,
                    "events": "".join(f"{one}\n\n" for one in places.events.read_text().split("\n\n")[:4] if one),
                }
                process.kill()
                assert process.stdout is not None and process.stdout.read().startswith(SAYS), how
            places.socket.unlink(missing_ok=True)
        with launched(argv, places) as process:
            last = ask_all(await_socket(process, places.socket), [*calls, SHUT_DOWN])
        alone = BootPlaces(folder, folder / "log", folder / "events", None)
        words = cloud_hypervisor_argv(target, alone, document)
        refused = {}
        for what, argument in (("kernel", NOWHERE), ("memory", "size=none")):
            at = words.index(f"--{what}") + 1
            said = subprocess.run(
                [*words[:at], argument, *words[at + 1 :]],
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            refused[what] = {"code": said.returncode, "stderr": said.stderr}
        version = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=30).stdout
        linux = ".".join(platform.release().split(".")[:2])
        found = {
            "version": version,
            "recorded": f"{platform.machine()}, Linux {linux}, whose /dev/kvm opens",
            "exchange": exchange,
            "started": [*started, *last[len(calls) :]],
            "ends": ends,
            "refused": refused,
            "socket_in_use": {"code": in_use.returncode, "stderr": in_use.stderr},
        }
        text = json.dumps(found).replace(str(folder), "/folder")
        replaced: dict[str, Any] = json.loads(text)
        return replaced


if __name__ == "__main__":
    kept = record(sys.argv[1])
    Path(sys.argv[2]).write_text(json.dumps(kept, indent=1) + "\n")
    print(f"{len(kept['exchange'])} requests, {len(kept['ends']['off']['log'])} rows of the log")
