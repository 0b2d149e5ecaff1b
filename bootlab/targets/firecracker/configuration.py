"""System -> what Firecracker is told: its command line and the requests of its API; pure functions, golden-tested."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bootlab.system import BootFiles, Firecracker, System
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.disks import drive_names

START: Final = ApiCall("PUT", "/actions", {"action_type": "InstanceStart"})
FLUSH: Final = ApiCall("PUT", "/actions", {"action_type": "FlushMetrics"})
_CARD: Final = "net0"
CLONE_DRIVE: Final = "clone"
"""The drive by which a guest is told who it is (guest/clone), behind all others."""


@dataclass(frozen=True, slots=True)
class MachinePlaces:
    """Where the files of one boot are. `socket`: of the API; `configuration`: the file that holds all, instead.

    `folder`: the boot's private one. Firecracker runs there, and a path that is relative counts from it.
    """

    folder: Path
    log: Path
    metrics: Path
    socket: Path | None
    configuration: Path
    disks: tuple[Path, ...]
    """Copies that the guest may write to: Firecracker has no disk whose writes are thrown away."""


def firecracker_argv(target: Firecracker, places: MachinePlaces, started_us: int | None = None) -> list[str]:
    """Return the command line. `started_us`: the host's monotonic time as it is started, for its own metrics.

    The steps of its start are in its log at the level Debug alone.
    """
    argv = [target.binary, "--id", "bootlab"]
    argv += ["--log-path", str(places.log), "--level", "Debug", "--show-level"]
    argv += ["--metrics-path", str(places.metrics)]
    if started_us is not None:
        argv += ["--start-time-us", str(started_us)]
    if places.socket is not None:
        argv += ["--api-sock", str(places.socket)]
    else:
        argv += ["--no-api", "--config-file", str(places.configuration)]
        if target.mmds is not None:
            argv += ["--metadata", str(target.mmds)]
    if target.boot_timer:
        argv += ["--boot-timer"]
    if target.pci:
        argv += ["--enable-pci"]
    if not target.seccomp:
        argv += ["--no-seccomp"]
    return argv


def configuring_calls(
    system: System, target: Firecracker, files: BootFiles, places: MachinePlaces, metadata: dict[str, Any] | None = None
) -> list[ApiCall]:
    """Return the requests that configure a machine, in order. `metadata`: what MMDS is to hold."""
    machine = system.machine
    about: dict[str, Any] = {
        "vcpu_count": machine.vcpus,
        "mem_size_mib": machine.memory_mib,
        "smt": target.smt,
        "track_dirty_pages": target.track_dirty_pages,
        "huge_pages": target.huge_pages,
    }
    if target.cpu_template is not None:
        about["cpu_template"] = target.cpu_template
    source = {"kernel_image_path": str(files.kernel.absolute()), "boot_args": system.kernel.cmdline}
    if files.initramfs is not None:
        source["initrd_path"] = str(files.initramfs.absolute())
    calls = [ApiCall("PUT", "/machine-config", about), ApiCall("PUT", "/boot-source", source)]
    for name, path in zip(drive_names(system), places.disks, strict=True):
        # The system's own command line says which is the root, as it does under every VMM.
        drive = {"drive_id": name, "path_on_host": str(path), "is_root_device": False, "is_read_only": False}
        calls.append(ApiCall("PUT", f"/drives/{name}", drive))
    if system.snapshot is not None:
        told = {"drive_id": CLONE_DRIVE, "path_on_host": CLONE_DRIVE, "is_root_device": False, "is_read_only": True}
        calls.append(ApiCall("PUT", f"/drives/{CLONE_DRIVE}", told))
    if target.tap is not None:
        card: dict[str, Any] = {"iface_id": _CARD, "host_dev_name": target.tap}
        if target.mac is not None:
            card["guest_mac"] = target.mac
        calls.append(ApiCall("PUT", f"/network-interfaces/{_CARD}", card))
    if target.mmds is not None:
        config = {"version": target.mmds_version, "network_interfaces": [_CARD]}
        calls.append(ApiCall("PUT", "/mmds/config", config))
        calls.append(ApiCall("PUT", "/mmds", metadata or {}))
    return calls


def configuration_file(calls: list[ApiCall]) -> dict[str, Any]:
    """Return the same as the document of `--config-file`; what MMDS holds is not part of it."""
    document: dict[str, Any] = {"drives": [], "network-interfaces": []}
    for call in calls:
        first, _, rest = call.path.strip("/").partition("/")
        if first in ("drives", "network-interfaces"):
            document[first].append(call.body)
        elif first != "mmds":
            document[first] = call.body
        elif rest == "config":
            document["mmds-config"] = call.body
    return document
