"""System -> what Cloud Hypervisor is told: its command line and its API's requests; pure functions, golden-tested."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bootlab.system import BootFiles, CloudHypervisor, System
from bootlab.targets.cloud_hypervisor.log import FORMAT
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.disks import CLONE_DRIVE, drive_names

ROOT: Final = "/api/v1"
CREATE: Final = f"{ROOT}/vm.create"
BOOT: Final = ApiCall("PUT", f"{ROOT}/vm.boot")
SHUT_DOWN: Final = ApiCall("PUT", f"{ROOT}/vmm.shutdown")
PING: Final = ApiCall("GET", f"{ROOT}/vmm.ping")
_MIB: Final = 1 << 20
_HUGE: Final = 2 * _MIB


@dataclass(frozen=True, slots=True)
class BootPlaces:
    """Where the files of one boot are. `events`: what its event monitor writes; `socket`: of its API, if any.

    `folder`: the boot's private one. Cloud Hypervisor runs there, and the disks' copies are in it, by their names.
    """

    folder: Path
    log: Path
    events: Path
    socket: Path | None


def machine_document(system: System, target: CloudHypervisor, files: BootFiles) -> dict[str, Any]:
    """Return the machine as `vm.create` takes it."""
    machine = system.machine
    memory: dict[str, Any] = {
        "size": machine.memory_mib * _MIB,
        "hugepages": target.huge_pages == "2M",
        "prefault": target.prefault,
        "shared": target.shared,
        "thp": target.thp,
    }
    if target.huge_pages == "2M":
        memory["hugepage_size"] = _HUGE
    payload = {"kernel": str(files.kernel.absolute()), "cmdline": system.kernel.cmdline}
    if files.initramfs is not None:
        payload["initramfs"] = str(files.initramfs.absolute())
    document: dict[str, Any] = {
        "cpus": {"boot_vcpus": machine.vcpus, "max_vcpus": machine.vcpus},
        "memory": memory,
        "payload": payload,
        "serial": {"mode": "Tty"},
        "console": {"mode": "Off"},
    }
    disks: list[dict[str, Any]] = [{"id": name, "path": name, "image_type": "Raw"} for name in drive_names(system)]
    if system.snapshot is not None:
        disks.append({"id": CLONE_DRIVE, "path": CLONE_DRIVE, "image_type": "Raw", "readonly": True})
    if disks:
        document["disks"] = disks
    if target.tap is not None:
        card = {"id": "net0", "tap": target.tap}
        document["net"] = [card if target.mac is None else {**card, "mac": target.mac}]
    return document


def configuring_calls(document: Mapping[str, Any]) -> list[ApiCall]:
    """Return the requests that configure a machine; that it is there at all is what the first one asks."""
    return [PING, ApiCall("PUT", CREATE, dict(document))]


def cloud_hypervisor_argv(target: CloudHypervisor, places: BootPlaces, document: Mapping[str, Any]) -> list[str]:
    """Return the command line; without an API it has the machine in it, and boots it at once."""
    argv = [target.binary, "--log-file", str(places.log), "--log-format", FORMAT, "-v"]
    argv += ["--event-monitor", f"path={places.events}"]
    if not target.seccomp:
        argv += ["--seccomp", "false"]
    if places.socket is not None:
        return [*argv, "--api-socket", str(places.socket)]
    return argv + _machine_words(document)


def _machine_words(document: Mapping[str, Any]) -> list[str]:
    cpus, payload = document["cpus"], document["payload"]
    words = ["--cpus", f"boot={cpus['boot_vcpus']},max={cpus['max_vcpus']}"]
    words += ["--memory", ",".join(_option(key, value) for key, value in document["memory"].items())]
    words += ["--kernel", payload["kernel"], "--cmdline", payload["cmdline"]]
    if "initramfs" in payload:
        words += ["--initramfs", payload["initramfs"]]
    for name, key in (("--disk", "disks"), ("--net", "net")):
        listed = [",".join(_option(*pair) for pair in one.items()) for one in document.get(key, ())]
        words += [name, *listed] if listed else []
    return [*words, "--serial", document["serial"]["mode"].lower(), "--console", document["console"]["mode"].lower()]


def _option(key: str, value: object) -> str:
    if isinstance(value, bool):
        return f"{key}={'on' if value else 'off'}"
    return f"{key}={value.lower() if key == 'image_type' and isinstance(value, str) else value}"
