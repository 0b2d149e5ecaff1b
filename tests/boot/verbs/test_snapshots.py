"""Machines that are kept and restored: clones differ and repeat, the clock goes on, and what is wrong is refused.

One stock kernel with an ext4 disk that is mounted for writing when the machine is kept: what a snapshot may spoil.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network]

INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "$module"; done </etc/bootlab/modules
# As a kernel that mounts its root itself: by a name that nobody finds any more.
mknod /dev/root b $(tr : ' ' </sys/block/vda/dev)
mount -t ext4 /dev/root /mnt
rm /dev/root
echo before >/mnt/before
bootlab-clone || echo "bootlab: check failed: the agent"
# The application: it must find what was written before, and what it writes now must be there.
echo now >/mnt/now
sync
[ "$(cat /mnt/before /mnt/now | tr '\\n' ' ')" = "before now " ] && exec 3>/tmp/answered
bootlab-mark ready
[ -e /tmp/answered ] && echo "bootlab: fact wrote $(cat /mnt/before /mnt/now | wc -c)"
[ -e /tmp/answered ] && umount /mnt && echo "bootlab: fact told $(hostname) $(cat /etc/machine-id) $(date -u +%Y)"
echo "bootlab: check ok"
sleep 1000
"""
SYSTEM = """
name = "kept"
[machine]
type = "q35"
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
entry = "pvh"
cmdline = "console=ttyS0 panic=-1 edd=off cryptomgr.notests no_timer_check quiet"
[initramfs]
init = "init"
clone_agent = true
compression = "none"
modules = ["ext4", "virtio_pci", "virtio_blk"]
[[disks]]
size_mib = 16
[snapshot]
[booted]
mark = "ready"
[check]
console = "bootlab: check ok"
"""

Bootlab = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    (folder / "init").write_text(INIT)
    (folder / "init").chmod(0o755)
    (folder / "kept.toml").write_text(SYSTEM)
    return folder


@pytest.fixture(scope="module")
def bootlab(folder: Path) -> Bootlab:
    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "bootlab", *words, "--runs", folder / "runs"]
        return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1800)

    return run


@pytest.fixture(scope="module")
def kept(bootlab: Bootlab, folder: Path) -> Path:
    done = bootlab("snapshot", folder / "kept.toml", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return Path(json.loads(done.stdout)["snapshot"])


def answered(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.promise("bootlab snapshot")
def test_clones_differ_and_one_repeats_to_the_instruction(bootlab: Bootlab, kept: Path, folder: Path) -> None:
    before = (kept / "ram").read_bytes()
    done = bootlab("boot", folder / "kept.toml", "--from", kept, "--clones", "2", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    document = answered(done)
    assert document["alike"] == [] and document["repeats"] is True
    one, two, again = (*document["boots"], document["again"])
    third = answered(bootlab("boot", folder / "kept.toml", "--from", kept, "--clone", "1", "--json"))
    for other in (again, third):
        for what in ("marks", "instructions", "idle_ns", "phases", "facts", "key"):
            assert other[what] == one[what], what
    assert one["facts"]["clone"] != two["facts"]["clone"]
    for number, record in enumerate((one, two), 1):
        host, machine, year = record["facts"]["told"].split()
        assert host == f"kept-{number}" and len(machine) == 32 and year == "2027"
        assert record["facts"]["wrote"] == "11", "the disk is as it was kept, and can be written to"
        assert 0 < record["marks"]["woke"] < record["marks"]["ready_clone"] == record["marks"]["ready"]
        assert record["restored"]["clone"] == number
    assert one["facts"]["told"].split()[1] != two["facts"]["told"].split()[1]
    assert (kept / "ram").read_bytes() == before, "no clone writes to the memory that all of them share"


def test_a_machine_that_is_not_told_goes_on_as_if_it_had_never_been_kept(bootlab: Bootlab, folder: Path) -> None:
    (folder / "plain.toml").write_text(SYSTEM.replace("[snapshot]\n", ""))
    cold = answered(bootlab("boot", folder / "plain.toml", "--json"))
    for memory in ("file", "mapped-ram"):
        done = bootlab("snapshot", folder / "plain.toml", "--at", "snapshot", "--memory", memory, "--json")
        assert done.returncode == 0, done.stderr
        snapshot = answered(done)
        assert snapshot["kept_ns"] == cold["marks"]["snapshot"]
        clone = answered(bootlab("boot", folder / "plain.toml", "--from", "last", "--json"))
        assert clone["outcome"] == "ready"
        assert snapshot["kept_ns"] + clone["marks"]["ready_clone"] == cold["marks"]["ready"]
        assert snapshot["instructions"] + clone["instructions"] == cold["instructions"]
    refused = bootlab("boot", folder / "plain.toml", "--from", "last", "--clones", "2")
    assert refused.returncode == 2 and "two machines of one identity" in refused.stderr


def test_a_clones_clock_goes_where_it_is_told_and_never_back(bootlab: Bootlab, kept: Path, folder: Path) -> None:
    """So that a certificate which was valid before is valid after; the machine was kept in 2024."""
    for told, year, says in (("2031-05-01T12:00:00Z", "2031", False), ("2001-02-03", "2024", True)):
        (folder / "dated.toml").write_text(SYSTEM.replace("[snapshot]", f"[snapshot]\nwoken_at = {told}"))
        done = bootlab("boot", folder / "dated.toml", "--from", kept, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        facts = answered(done)["facts"]
        assert facts["told"].split()[2] == year
        assert ("clock_behind_us" in facts) is says
        assert not says or int(facts["clock_behind_us"]) > 22 * 365 * 86_400 * 10**6


def test_a_clone_beside_a_changed_disk_writes_nothing_and_is_booted_cold(
    bootlab: Bootlab, kept: Path, folder: Path
) -> None:
    other = folder / "other"
    shutil.copytree(kept, other)
    # As another system's mount leaves it: the superblock has another time of writing.
    words = ["qemu-io", "-f", "qcow2", "-c", "write -P 0x5a 1072 4", other / "disk0.qcow2"]
    subprocess.run(words, check=True, capture_output=True)
    told = bootlab("boot", folder / "kept.toml", "--from", other, "--json")
    assert told.returncode == 1 and "disk0.qcow2" in told.stderr, "the host sees it first"
    done = bootlab("boot", folder / "kept.toml", "--from", other, "--unread", "--or-cold", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    record = answered(done)
    assert record.get("restored") is None and record["marks"]["power_on"] == 0
    (remark,) = (line for line in record["remarks"] if "not restored" in line)
    assert "changed since the snapshot: the file system on /dev/vda" in remark and "booted cold" in remark
    last = max((folder / "runs").glob("*-kept-boot/boots/cold"))
    refused = json.loads((last.parent / "1/record.json").read_text())
    assert refused["outcome"] == "not ready" and "refused" in refused["detail"]


def test_what_is_not_that_machine_or_not_whole_is_refused_with_its_reason(
    bootlab: Bootlab, kept: Path, folder: Path
) -> None:
    (folder / "more.toml").write_text(SYSTEM.replace("panic=-1", "panic=-1 more"))
    (folder / "disk.toml").write_text(SYSTEM.replace("size_mib = 16", "size_mib = 17"))
    for name, said in (
        ("more.toml", "kernel.cmdline: "),
        ("disk.toml", "disk0: has changed: the guest had it mounted"),
    ):
        done = bootlab("boot", folder / name, "--from", kept)
        assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
    cut = folder / "cut"
    shutil.copytree(kept, cut)
    with (cut / "state").open("r+b") as file:
        file.truncate(1000)
    done = bootlab("boot", folder / "kept.toml", "--from", cut)
    assert done.returncode == 1 and "state: cut off: 1000 bytes" in done.stderr
