"""System -> what Firecracker is told: its command line and the requests of its API; pure functions, golden-tested."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bootlab.system import BootFiles, Firecracker, System
from bootlab.targets.firecracker.jail import Jail
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.disks import CLONE_DRIVE, drive_names

START: Final = ApiCall("PUT", "/actions", {"action_type": "InstanceStart"})
FLUSH: Final = ApiCall("PUT", "/actions", {"action_type": "FlushMetrics"})
CARD: Final = "net0"
"""The guest's network card."""


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
    jail: Jail | None = field(default=None, kw_only=True)
    """In which all of these are but disks, which are relative."""
    disks: tuple[Path, ...]
    """Copies that the guest may write to: Firecracker has no disk whose writes are thrown away."""

    def seen(self, path: Path) -> str:
        """Return a path as Firecracker sees it."""
        return str(path) if self.jail is None else self.jail.seen(path)


def firecracker_argv(target: Firecracker, places: MachinePlaces, started_us: int | None = None) -> list[str]:
    """Return the command line. `started_us`: the host's monotonic time as it is started, for its own metrics.

    The steps of its start are in its log at the level Debug alone.
    """
    if places.jail is not None:
        argv = _jailer_argv(target, places.jail)
    else:
        argv = [target.binary, "--id", "bootlab"]
        if started_us is not None:
            argv += ["--start-time-us", str(started_us)]
    argv += ["--log-path", places.seen(places.log), "--level", "Debug", "--show-level"]
    argv += ["--metrics-path", places.seen(places.metrics)]
    if places.socket is not None:
        argv += ["--api-sock", places.seen(places.socket)]
    else:
        argv += ["--no-api", "--config-file", places.seen(places.configuration)]
        if target.mmds is not None:
            argv += ["--metadata", places.seen(target.mmds)]
    if target.boot_timer:
        argv += ["--boot-timer"]
    if target.pci:
        argv += ["--enable-pci"]
    if not target.seccomp:
        argv += ["--no-seccomp"]
    return argv


def _jailer_argv(target: Firecracker, jail: Jail) -> list[str]:
    """Return the jailer's words, behind which come Firecracker's: it adds `--id` and its start's time itself."""
    assert target.jailer is not None
    argv = [target.jailer, "--id", jail.id, "--exec-file", target.binary]
    argv += ["--uid", str(jail.uid), "--gid", str(jail.gid), "--chroot-base-dir", str(jail.home.parent.parent)]
    for option, value in (
        ("--cgroup-version", target.cgroup_version),
        ("--parent-cgroup", target.parent_cgroup),
        ("--netns", target.netns),
    ):
        argv += [] if value is None else [option, str(value)]
    for option, values in (("--cgroup", target.cgroups), ("--resource-limit", target.resource_limits)):
        argv += [word for value in values for word in (option, value)]
    return [*argv, "--"]


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
    source = {"kernel_image_path": places.seen(files.kernel.absolute()), "boot_args": system.kernel.cmdline}
    if files.initramfs is not None:
        source["initrd_path"] = places.seen(files.initramfs.absolute())
    calls = [ApiCall("PUT", "/machine-config", about), ApiCall("PUT", "/boot-source", source)]
    for name, path in zip(drive_names(system), places.disks, strict=True):
        # The system's own command line says which is the root, as it does under every VMM.
        drive = {"drive_id": name, "path_on_host": str(path), "is_root_device": False, "is_read_only": False}
        calls.append(ApiCall("PUT", f"/drives/{name}", drive))
    if system.snapshot is not None:
        told = {"drive_id": CLONE_DRIVE, "path_on_host": CLONE_DRIVE, "is_root_device": False, "is_read_only": True}
        calls.append(ApiCall("PUT", f"/drives/{CLONE_DRIVE}", told))
    if target.tap is not None:
        card: dict[str, Any] = {"iface_id": CARD, "host_dev_name": target.tap}
        if target.mac is not None:
            card["guest_mac"] = target.mac
        calls.append(ApiCall("PUT", f"/network-interfaces/{CARD}", card))
    if target.mmds is not None:
        config = {"version": target.mmds_version, "network_interfaces": [CARD]}
        calls += [ApiCall("PUT", "/mmds/config", config), metadata_call(metadata)]
    return calls


def metadata_call(metadata: dict[str, Any] | None) -> ApiCall:
    """Return the request that has MMDS hold `metadata`."""
    return ApiCall("PUT", "/mmds", metadata or {})


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
