"""A root that was handed over as a system: one of Debian's kernels, an initramfs that mounts it, and what it starts.

A root says nothing of its machine. It gets that of a disk image: one vCPU, 1 GiB, a virtio disk, a virtio card on
bootlab's own network. Process 1 is its own init where it is there for that, else bootlab-init, with what the container
image's configuration starts as its goal. Ready is the login prompt, the first port that the image says it listens at,
or that the program was started.
"""

import re
from pathlib import Path
from typing import Final

from bootlab.build.given_root.command import MARK
from bootlab.build.given_root.given import PREFIXES, GivenRoot, find_root
from bootlab.build.given_root.survey import RootSurvey, survey_root
from bootlab.build.image.as_system import DEADLINE_S, MEMORY_MIB, SSH_PORT, SSH_PROBE
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import (
    Booted,
    Initramfs,
    Kernel,
    Machine,
    MachineType,
    Network,
    NetworkPeer,
    NetworkProbe,
    Rootfs,
    System,
)
from bootlab.system.value import name_from

SUITE: Final = "trixie"
"""Of the kernel, unless a system file says another one: kernel.suite."""
HANDED_OVER: Final = "root_init"
"""The mark that guest/mount_root.sh makes before it starts the root's init."""
_MACHINES: Final = {
    "x86_64": (MachineType.Q35, "ttyS0", "linux-image-cloud-amd64"),
    "aarch64": (MachineType.VIRT, "ttyAMA0", "linux-image-cloud-arm64"),
}
_MODULES: Final = ("virtio_pci", "virtio_mmio", "virtio_blk", "virtio_net", "ext4")
_ENDINGS: Final = re.compile(r"\.(tar|tgz|txz)(\.(gz|xz|zst|bz2))?$|\.(gz|xz|zst|bz2)$")


def open_root(shop: Workshop, path: Path) -> System:
    """Return the system that a folder, a tar archive or a container image is; the shop hears what was found in it.

    Raises InputError for what is damaged, holds no root, or is of an architecture that is not booted here; StoreError.
    """
    root = find_root(shop, path)
    survey = survey_root(root)
    system = system_of_root(root, survey)
    for line in describe_root(root, survey, system):
        shop.tell(line)
    return system


def system_of_root(root: GivenRoot, survey: RootSurvey) -> System:
    """Return the system that boots a root. Raises InputError as `open_root`."""
    if survey.arch not in _MACHINES:
        raise InputError(
            f"{root.path}: its programs are for {survey.arch}, and bootlab boots roots of {' and '.join(_MACHINES)}"
        )
    if survey.starts_command and not survey.words:
        raise InputError(
            f"{root.path}: no /sbin/init in it, and nothing that says what to start",
            hint='a system file does: [rootfs] source = PATH, start = "command", command = ["/path/of/program"] '
            "(docs/roots.md has a whole one)",
        )
    machine, console, package = _MACHINES[survey.arch]
    path = root.path.absolute()
    booted, probes = _booted(survey)
    return System(
        name=name_from(_ENDINGS.sub("", path.name), "root"),
        description=" ".join(filter(None, [survey.os_name, survey.image.partition(" ")[0]])),
        machine=Machine(type=machine, memory_mib=MEMORY_MIB),
        kernel=Kernel(
            package=package,
            suite=SUITE,
            cmdline=f"console={console} panic=-1 root=/dev/vda rootfstype=ext4 rw net.ifnames=0",
        ),
        initramfs=Initramfs(mount_root=True, modules=_MODULES),
        rootfs=Rootfs(
            source=path,
            source_image=root.choice,
            start="command" if survey.starts_command else "init",
            busybox=False,
        ),
        network=Network(peer=NetworkPeer.BOOTLAB, probes=probes),
        booted=booted,
    )


def _booted(survey: RootSurvey) -> tuple[Booted, dict[str, NetworkProbe]]:
    if survey.starts_command:
        if not survey.ports:
            return Booted(mark=MARK, deadline_s=DEADLINE_S), {}
        probes = {f"port_{one}": NetworkProbe(tcp=one, after=HANDED_OVER) for one in survey.ports}
        return Booted(mark=f"port_{survey.ports[0]}", deadline_s=DEADLINE_S), probes
    probes = {SSH_PROBE: NetworkProbe(tcp=SSH_PORT, after=HANDED_OVER)} if survey.has_sshd else {}
    if survey.login:
        return Booted(console=survey.login, deadline_s=DEADLINE_S), probes
    return Booted(mark=SSH_PROBE if probes else HANDED_OVER, deadline_s=DEADLINE_S), probes


def describe_root(root: GivenRoot, survey: RootSurvey, system: System) -> list[str]:
    """Return what was found in a root, a line each, for who is about to boot it."""
    what = "container image" if root.is_container else "folder" if root.path.is_dir() else "tar archive"
    size = f"{survey.files:,} files, {survey.bytes / 2**20:.0f} MiB"
    lines = [f"{root.path.name}: {survey.os_name or 'no os-release found'}; {what}, {survey.arch}, {size}"]
    lines += [f"image {survey.image}"] if survey.image else []
    kernel = f"Debian {SUITE}'s {system.kernel.package} (kernel.package and kernel.suite of a system file change it)"
    started = f"its own init ({survey.init})"
    other = f'; rootfs.start = "command" starts {_words(survey)}' if survey.words else ""
    if survey.starts_command:
        started = f"{_words(survey)}, by bootlab-init"
        other = f'; rootfs.start = "init" starts its own init ({survey.init})' if survey.init else ""
    lines += [f"boots {kernel}", f"starts {started}{other}", f"ready when {_ready(survey)}"]
    return [*lines, *survey.remarks]


def _words(survey: RootSurvey) -> str:
    return " ".join(survey.words)[:120]


def _ready(survey: RootSurvey) -> str:
    if survey.starts_command:
        first = f"port {survey.ports[0]} answers, the first that its configuration exposes" if survey.ports else ""
        return first or "its program was started: its configuration exposes no port"
    if survey.login:
        return f"the console says {survey.login!r}"
    no_prompt = "nothing in it asks for a login on the first serial line"
    return (
        f"port 22 answers: {no_prompt}" if survey.has_sshd else f"its init is started: {no_prompt}; [booted] says more"
    )


def is_prefixed(word: str) -> bool:
    """Return whether a word says by itself that a container image follows, as `oci:FOLDER`."""
    return word.partition(":")[0] in PREFIXES and ":" in word
