"""What the tests of real VMMs share: the systems that they boot in a machine with SVM, and what each VMM must show.

BOOTLAB_FIRECRACKER, BOOTLAB_JAILER and BOOTLAB_CLOUD_HYPERVISOR name the programs (scripts/vmm builds them),
BOOTLAB_VMM_BOOTS says how many boots a series has.
"""

import json
import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bootlab.build import boot_files
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.workshop import Workshop
from bootlab.measure.record import BootRecord
from bootlab.process import run
from bootlab.report.parts.figures import ms, short_hash
from bootlab.report.parts.markdown import markdown_table, plain, prose
from bootlab.system import BootFiles, System, read_system
from tests.boot.machines.nested_kvm.host_tree import HostTree
from tests.handed_over import Table

FIRECRACKER_PROGRAM = os.environ.get("BOOTLAB_FIRECRACKER", "firecracker")
JAILER_PROGRAM = os.environ.get("BOOTLAB_JAILER", "jailer")
CLOUD_HYPERVISOR_PROGRAM = os.environ.get("BOOTLAB_CLOUD_HYPERVISOR", "cloud-hypervisor")
BOOTS = max(5, int(os.environ.get("BOOTLAB_VMM_BOOTS", "5")))

BOOTED = '[booted]\nmark = "ready"\ndeadline_s = 300\n[check]\nconsole = "bootlab: check ok"\ndeadline_s = 60\n'
DISK = '[[disks]]\npath = "{}"\n'
QEMU = '[machine]\ntype = "microvm"\ncpu = "host"\nmemory_mib = 128\noptions = { acpi = "off" }\n'
QEMU += '[clock]\nkind = "wall"\naccelerator = "kvm"\n'
FIRECRACKER = '[target]\nkind = "firecracker"\nbinary = "/firecracker"\nprobe = false\n'
CLOUD_HYPERVISOR = '[target]\nkind = "cloud-hypervisor"\nbinary = "/cloud-hypervisor"\nprobe = false\n'
QUIET = "console=ttyS0,115200 panic=-1 reboot=t quiet"
_FILES_OF = '[kernel]\nimage = "{name}.vmlinux"\nentry = "pvh"\ncmdline = "{cmdline}"\n'
_FILES_OF += '[initramfs]\npath = "{name}.initramfs"\n'


def files_of(name: str, cmdline: str = QUIET) -> str:
    """Return the tables of a system file for what `put_files` put there by this name."""
    return _FILES_OF.format(name=name, cmdline=cmdline)


def require_vmm(program: str, what: str) -> Path:
    """Return where a VMM's program is; the test is skipped where there is none, or no machine with SVM to run it in."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"no {what} here: scripts/vmm builds one, BOOTLAB_{what.upper().replace(' ', '_')} names it")
    if platform.machine() != "x86_64":
        pytest.skip("KVM's SVM needs an x86-64 host's own programs")
    return Path(found)


def vmm_words(name: str, program: Path) -> str:
    """Return which VMM it was, for below a table: its version and the hash of its program."""
    found = re.search(r"\d+(\.\d+)+", run([program, "--version"]).text)
    assert found is not None, program
    return f"{name} {found[0]} ({short_hash(file_sha256(program))})."


def nested_host(folder: Path, vmms: Mapping[str, Path], tools: Sequence[str], *, qemu: bool = False) -> HostTree:
    """Return the disk of the machine with SVM: bootlab, these VMMs by their names, these tools of this host's."""
    tree = HostTree(folder / "tree")
    if qemu:
        tree.add_qemu()
    tree.add_python()
    tree.add_bootlab()
    tree.add_binaries([Path(shutil.which(name) or name) for name in tools])
    for name, program in vmms.items():
        tree.put(program, f"/{name}")
    return tree


def debian(
    shop: Workshop, init: str, folder: Path, *, bus: str = "mmio", agent: bool = False, card: bool = False
) -> BootFiles:
    """Make a Debian as it is, with an init and a disk of 4 MiB on virtio over `bus`; `agent`: a clone's is in it.

    `card`: with the driver of a network card in the place of the disk.
    """
    path = folder / "init"
    path.write_text(init)
    parts = ["virtio_net", "virtio_blk"] if card else ["virtio_blk", "ext4"]
    recipe = {"init": path, "modules": [f"virtio_{bus}", *parts], "compression": "none"}
    return boot_files.prepare(
        shop,
        System.model_validate(
            {
                "name": "inner",
                "machine": {"type": "microvm" if bus == "mmio" else "q35"},
                "kernel": {"package": "linux-image-cloud-amd64", "suite": "bookworm", "entry": "pvh"},
                "initramfs": {**recipe, "clone_agent": True} if agent else recipe,
                "disks": [] if card else [{"size_mib": 4}],
                "booted": {"mark": "ready"},
            }
        ),
    )


def put_files(tree: HostTree, files: Mapping[str, BootFiles]) -> None:
    """Put kernels and initramfs into the tree, by name; the disk of one that has one is `disk`."""
    for name, one in files.items():
        assert one.initramfs is not None
        tree.put(one.kernel, f"/systems/{name}.vmlinux")
        tree.put(one.initramfs, f"/systems/{name}.initramfs")
        for disk in one.disks:
            tree.put(disk, "/systems/disk")


def write_systems(tree: HostTree, systems: Mapping[str, str]) -> Cache:
    """Write system files into the tree, with a cache that has all that is made of them, and return that."""
    inside = Cache(tree.at("/cache"))
    for name, text in systems.items():
        path = tree.at(f"/systems/{name}.toml")
        path.write_text(text)
        boot_files.prepare(Workshop(inside), read_system(path))
    return inside


def told_document(told: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return what a verb told, which did its work."""
    assert told[name]["code"] == 0, told[name]
    document: dict[str, Any] = told[name]["document"]
    return document


def the_boot(told: Mapping[str, Any], name: str) -> BootRecord:
    return BootRecord.model_validate(told_document(told, name))


def expect_split_series(told: Mapping[str, Any], name: str, sides: Sequence[str], table: Table) -> None:
    """Expect each part of both sides' launches in each boot, and hand them over; `sides`: what the VMMs are called."""
    compared = told_document(told, name)
    assert compared["clock"] == "wall" and compared["before_ns"] and compared["after_ns"]
    cells: dict[str, list[str]] = {}
    for at, side in enumerate(("before", "after")):
        parts = compared["parts"][side]
        assert parts[-1]["name"] == "VMM start to ready" and len(parts) >= 4
        for part in parts:
            assert len(part["times_ns"]) == BOOTS
            # Nothing marks where one phase of these guests ends and the next begins.
            phase = "power-on to ready" if " + " in part["name"] else part["name"]
            cells.setdefault(phase, ["", ""])[at] = spread_words(part["times_ns"])
    # What comes last is the whole, of either.
    rows = [[part, *cells[part]] for part in sorted(cells, key=lambda part: part == "VMM start to ready")]
    said = (
        f"ms, median of {BOOTS} boots a side, least to most; boots taking turns. From power-on to ready "
        f"{plain(compared['verdict'])}: {plain(compared['detail'])}"
    )
    text = markdown_table(["part", *(f"{side}>" for side in sides)], rows)
    table(f"{text}\n\n{prose(said)}", boots=[(sides[0], [the_boot(told, "boot")])], host=True)


def spread_words(times_ns: Sequence[int]) -> str:
    """Return times as a cell has them: their upper median, least and most, in ms."""
    times = sorted(times_ns)
    return f"{ms(times[len(times) // 2])} ({ms(times[0])} to {ms(times[-1])})"


def expect_timed_requests(profiled: Mapping[str, Any]) -> None:
    """Expect each request to KVM as a series, and a note on which setting of the host its time hangs on, or on none."""
    (imported,) = profiled["imported"]
    text = json.dumps(imported)
    for said in ("KVM_CREATE_VM took", "KVM_SET_USER_MEMORY_REGION", "page faults up to ready", "(KVM_RUN)"):
        assert said in text, text[:3000]


def expect_whole_storm(told: Mapping[str, Any], number: int, table: Table) -> None:
    """Expect every machine of a storm to be ready, with its memory and its launch known; hand over how long it took."""
    storm = told_document(told, "storm")
    assert (storm["ready"], storm["accelerator"]) == (number, "kvm")
    assert all(machine["pss_kib"] > 0 and machine["launch_ns"] > 0 for machine in storm["machines"])
    said = f"A storm of {number} there: all ready, p50 {ms(storm['p50_ns'])} ms, p99 {ms(storm['p99_ns'])} ms"
    by = "; ".join(plain(words) for words in storm["serialised_by"])
    table(prose(f"{said}{f'; serialised by {by}' if by else ''}."))
