"""Machines that find something as they are switched on: a root in kept RAM, a hibernation image, both good and spoilt.

Debian's stock cloud kernel. Each fault is booted: what is wrong is refused or found by the kernel, with a reason, and
none of them is tried a second time.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.sources import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network]

COMMON = """
[machine]
type = "q35"
memory_mib = 192
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
entry = "pvh"
cmdline = "console=ttyS0 panic=-1 edd=off cryptomgr.notests no_timer_check root=/dev/vda quiet WORDS"
[booted]
mark = "ready"
[check]
console = "bootlab: check ok"
"""
KEPT_INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
cat /etc/needed >/dev/null || echo "bootlab: check failed: the application cannot be read"
bootlab-mark ready
echo "bootlab: check ok"
bootlab-kept settle
sleep 1000
"""
KEPT = """
[initramfs]
mount_root = true
compression = "none"
modules = ["crc32c_intel", "sha256_ssse3", "nd_e820", "nd_pmem", "dm_verity", "erofs", "virtio_pci", "virtio_blk"]
[rootfs]
init = "init"
files = { "etc/needed" = "needed", "etc/not-needed" = "not-needed" }
filesystem = "erofs"
device = "kept-ram"
kept_ram = { size_mib = 8, verify = "VERIFY" }
"""
SAYS_OK, SETTLES = 'echo "bootlab: check ok"\n', "bootlab-kept settle\n"
SETTLED_INIT = KEPT_INIT.replace(SAYS_OK + SETTLES, SETTLES + SAYS_OK)
READ_THE_REST = """bootlab-mark ready
cat /etc/not-needed >/dev/null || echo "bootlab: check failed: the rest cannot be read"
"""
SLEEPER_INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
echo start >>/starts
sync
before=$(date +%s)
bootlab-sleep
cat /etc/needed >/dev/null || echo "bootlab: check failed: the application cannot be read"
bootlab-mark ready
echo "bootlab: fact clock_went $(($(date +%s) - before))"
echo "bootlab: fact starts $(wc -l </starts)"
echo "bootlab: fact note $(dd if=/dev/vdb bs=4096 skip=32766 count=1 2>/dev/null | head -n 1)"
echo "bootlab: fact drawn $(od -An -N8 -tx1 /dev/urandom | tr -d ' ')"
echo "bootlab: check ok"
sleep 1000
"""
SLEEPER = """
[initramfs]
mount_root = true
sleep_agent = true
compression = "none"
modules = ["crc32c_intel", "ext4", "virtio_pci", "virtio_blk"]
[rootfs]
init = "init"
sleep_agent = true
files = { "etc/needed" = "needed" }
[[disks]]
size_mib = 128
filesystem = "swap"
"""

SUSPENDER_INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
bootlab-mark door_shut
sleep 1
bootlab-sleep
bootlab-mark ready
echo "bootlab: check ok"
sleep 1000
"""
SUSPENDER = """
[initramfs]
init = "init"
sleep_agent = true
compression = "none"
"""

RAM_FAULTS = [
    ("ram-lost", "nothing is there: the RAM was lost"),
    ("header-bit", "the header is damaged"),
    ("refill-cut", "the RAM was being filled when the power was cut"),
    ("old-image", "another image: "),
    ("start-hung", "the last start out of it did not become ready"),
]
"""What is wrong with a region, and what a start says of it on every architecture."""

NEVER_WOKEN = ("behind-none", "too-soon")
Boot = Callable[..., dict[str, Any]]


def boots_of(folder: Path, runs: Path | None = None) -> Boot:
    def boot(name: str, power_on: str, *words: str) -> dict[str, Any]:
        argv = [sys.executable, "-m", "bootlab", "boot", folder / f"{name}.toml", "--power-on", power_on, *words]
        done = subprocess.run(
            [*argv, "--json", "--runs", runs or folder / "runs"],
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert "Traceback" not in done.stderr and done.stdout, done.stderr
        record: dict[str, Any] = json.loads(done.stdout)
        assert (done.returncode == 0) == (record["outcome"] == "ready"), record["detail"]
        return record

    return boot


@pytest.fixture(scope="module")
def kept_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    (folder / "init").write_text(KEPT_INIT)
    for name in ("needed", "not-needed"):
        (folder / name).write_text("".join(f"{name} {line}\n" for line in range(1000)))
    for verify in ("verity", "all", "header"):
        text = f'name = "{verify}"' + COMMON.replace("WORDS", "acpi=off rootfstype=erofs")
        (folder / f"{verify}.toml").write_text(text + KEPT.replace("VERIFY", verify))
    (folder / "settled-init").write_text(SETTLED_INIT)
    text = 'name = "settled"' + COMMON.replace("WORDS", "acpi=off rootfstype=erofs")
    (folder / "settled.toml").write_text(text + KEPT.replace("VERIFY", "verity").replace('"init"', '"settled-init"'))
    (folder / "some-init").write_text(KEPT_INIT.replace("bootlab-mark ready\n", READ_THE_REST))
    some = KEPT.replace('"init"', '"some-init"').replace('VERIFY"', 'verity", without = ["/etc/not-needed"]')
    for name, modules in (("some", '"dm_verity", "overlay"'), ("some-without-overlay", '"dm_verity"')):
        text = f'name = "{name}"' + COMMON.replace("WORDS", "acpi=off rootfstype=erofs")
        (folder / f"{name}.toml").write_text(text + some.replace('"dm_verity"', modules))
    for filesystem, size_mib, verify in (("erofs", 8, "all"), ("ext4", 16, "header")):
        mapped = KEPT.replace('VERIFY"', f'{verify}", dax = true').replace('"erofs"', f'"{filesystem}"')
        mapped = mapped.replace("size_mib = 8", f"size_mib = {size_mib}")
        text = f'name = "mapped-{filesystem}"' + COMMON.replace("WORDS", f"acpi=off rootfstype={filesystem}")
        (folder / f"mapped-{filesystem}.toml").write_text(text + mapped)
    text = 'name = "long-path"' + COMMON.replace("WORDS", "acpi=off rootfstype=erofs")
    text = text.replace("root=/dev/vda", f"root=/dev/{'/' * 100}vda")
    (folder / "long-path.toml").write_text(text + KEPT.replace("VERIFY", "verity"))
    return folder


@pytest.fixture(scope="module")
def kept(kept_folder: Path) -> Boot:
    return boots_of(kept_folder)


@pytest.fixture(scope="module")
def sleeper(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    folder = tmp_path_factory.mktemp("sleeper")
    (folder / "init").write_text(SLEEPER_INIT)
    (folder / "needed").write_text("needed\n" * 1000)
    text = 'name = "sleeper"' + COMMON.replace("WORDS", "rootfstype=ext4 rw resume=/dev/vdb swiotlb=noforce")
    (folder / "sleeper.toml").write_text(text + SLEEPER)
    small = SLEEPER.replace("size_mib = 128", "size_mib = 4")
    (folder / "no-room.toml").write_text(text.replace('"sleeper"', '"no-room"') + small)
    (folder / "much").write_text("much\n" * 400_000)
    (folder / "reading-init").write_text(
        SLEEPER_INIT.replace("bootlab-sleep\n", "cat /etc/much >/dev/null\nbootlab-sleep\n")
    )
    reading = SLEEPER.replace('"init"', '"reading-init"').replace("files = {", 'files = { "etc/much" = "much",')
    # Two fifths of less memory would be less than this system needs: the kernel drops the page cache itself then.
    larger = text.replace("memory_mib = 192", "memory_mib = 256")
    for name, line in (
        ("smallest", "write /sys/power/image_size 0"),
        ("whole", "# as ever"),
        ("cached", "keep caches"),
    ):
        told = reading.replace("files = {", f'texts = {{ "/etc/bootlab/sleep.d/it" = "{line}\\n" }}\nfiles = {{')
        (folder / f"{name}.toml").write_text(larger.replace('"sleeper"', f'"{name}"') + told)
    no_mode = text.replace('"sleeper"', '"no-mode"').replace("swiotlb=noforce", "nohibernate")
    (folder / "no-mode.toml").write_text(no_mode + SLEEPER)
    # Here the image's disk has its driver before the root has: too early to take it up, and no reason to refuse it.
    later = SLEEPER.replace(
        '"crc32c_intel", "ext4", "virtio_pci", "virtio_blk"', '"virtio_blk", "virtio_pci", "ext4", "nvme"'
    )
    later = later.replace("[rootfs]\n", '[rootfs]\ndevice = "nvme"\n')
    text = text.replace("root=/dev/vda", "root=/dev/nvme0n1").replace("resume=/dev/vdb", "resume=/dev/vda")
    (folder / "later-root.toml").write_text(text.replace('"sleeper"', '"later-root"') + later)
    return boots_of(folder)


@pytest.fixture(scope="module")
def suspender(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    folder = tmp_path_factory.mktemp("suspender")
    (folder / "init").write_text(SUSPENDER_INIT)
    common = COMMON.replace("WORDS", "").replace("root=/dev/vda ", "").replace('entry = "pvh"\n', "")
    for name, wake in (
        ("suspender", ""),
        ("by-alarm", 'by = "rtc"\nat_s = 4\nignition_s = 6.5\n'),
        ("by-key", 'by = "key"\nat_s = 1.5\nignition_s = 1.5001\n'),
        ("of-day", 'by = "rtc"\nat = "power_on"\nat_s = 4\nignition_s = 6.5\n'),
        ("of-day-over", 'by = "rtc"\nat = "power_on"\nat_s = 1\n'),
        ("behind-asleep", 'by = "key"\nat = "asleep"\nat_s = 1.5\nignition_s = 2\n'),
        ("behind-own", 'by = "key"\nat = "door_shut"\nat_s = 1.5\n'),
        ("behind-none", 'by = "key"\nat = "door_open"\nat_s = 1.5\n'),
        ("too-soon", 'by = "key"\nat_s = 0.00001\n'),
    ):
        text = f'name = "{name}"' + common + SUSPENDER
        if name in NEVER_WOKEN:
            text = text.replace("[booted]", "[booted]\ndeadline_s = 30")
        (folder / f"{name}.toml").write_text(text + (f"[wake]\n{wake}" if wake else ""))
    return boots_of(folder)


def power_on(record: dict[str, Any]) -> tuple[str | None, str | None]:
    return record["power_on"]["source"], record["power_on"]["refused"]


def test_a_root_is_found_in_kept_ram_and_never_when_the_power_was_lost(kept: Boot) -> None:
    cold = kept("verity", "cold")
    assert power_on(cold) == ("disk", "nothing is there: the RAM was lost")
    assert cold["marks"]["kept_refused"] < cold["marks"]["root_disk"] < cold["marks"]["ready"]
    one, again = kept("verity", "self-refresh"), kept("verity", "self-refresh")
    assert power_on(one) == ("kept-ram", None) and "root_disk" not in one["marks"]
    assert (one["marks"], one["instructions"], one["key"]) == (again["marks"], again["instructions"], again["key"])
    reset = kept("verity", "warm-reset")
    assert power_on(reset) == ("kept-ram", None)
    assert len({cold["key"], one["key"], reset["key"]}) == 3
    # What the guest has left in the region is what is on its disk: image and tree, byte by byte.
    region, disk = region_and_disk(reset)
    assert region.startswith(disk)


def test_some_of_the_files_are_kept_and_the_others_are_read_from_the_disk(kept: Boot) -> None:
    assert power_on(kept("some", "cold")) == ("disk", "nothing is there: the RAM was lost")
    one, again = kept("some", "self-refresh"), kept("some", "self-refresh")
    assert power_on(one) == ("kept-ram", None) and one["outcome"] == "ready"
    assert (one["marks"], one["instructions"]) == (again["marks"], again["instructions"])
    # What is in the region is behind the whole root on the disk, byte by byte, and has the one file and not the other.
    reset = kept("some", "warm-reset")
    region, disk = region_and_disk(reset)
    at = disk.index(region[:4096], 4096)
    assert region.startswith(disk[at:]) and at % 4096 == 0
    assert b"needed 1\n" in region and b"not-needed 1\n" not in region and b"not-needed 1\n" in disk[:at]
    # It is the RAM's that is read, though the disk has it, too.
    read = kept("some", "self-refresh:file-bit:/etc/needed")
    assert read["outcome"] == "not ready" and "guest reset before ready" in read["detail"]
    none = kept("some-without-overlay", "self-refresh")
    assert power_on(none) == ("disk", "cannot be laid over /dev/vda: the kernel has no overlay file system")


@pytest.mark.parametrize("name", ["mapped-erofs", "mapped-ext4"])
def test_the_files_of_a_root_are_mapped_where_they_lie(kept: Boot, name: str) -> None:
    """What the kernel says of a file of the root is in the record; of the disk's copy it says nothing."""
    record = kept(name, "self-refresh")
    assert record["outcome"] == "ready" and power_on(record) == ("kept-ram", None)
    assert record["facts"]["root_dax"] == "yes"
    assert "root_dax" not in kept(name, "cold")["facts"]
    assert "root_dax" not in kept("verity", "self-refresh")["facts"]


def test_a_root_whose_files_cannot_be_mapped_is_refused_and_the_disk_is_booted(kept: Boot, tmp_path: Path) -> None:
    """A finished image of packed files: nothing in the system file says so, and erofs mounts it all the same."""
    for name, text in (("init", KEPT_INIT), ("needed", "needed\n" * 1000), ("not-needed", "not needed\n")):
        (tmp_path / name).write_text(text)
    text = 'name = "packed"' + COMMON.replace("WORDS", "acpi=off rootfstype=erofs")
    made = tmp_path / "made.toml"
    made.write_text(text + KEPT.replace("VERIFY", "verity").replace("[rootfs]", '[rootfs]\ncompression = "lz4"'))
    argv = [sys.executable, "-m", "bootlab", "build", "rootfs", made, "--json"]
    image = json.loads(subprocess.run(argv, capture_output=True, check=True, timeout=300).stdout)["path"]
    whole = KEPT.replace('VERIFY"', 'header", dax = true').replace('init = "init"', f'path = "{image}"')
    whole = "".join(line for line in whole.splitlines(keepends=True) if not line.startswith("files ="))
    (tmp_path / "packed.toml").write_text(text + whole)
    record = boots_of(tmp_path)("packed", "self-refresh")
    assert record["outcome"] == "ready" and "root_dax" not in record["facts"]
    assert power_on(record) == ("disk", "DAX did not take effect: the kernel, the region or erofs has none")


def region_and_disk(record: dict[str, Any]) -> tuple[bytes, bytes]:
    """Return what the guest has left in its region after a reset, and the disk that it had."""
    backend = next(word for word in record["argv"] if word.startswith("memory-backend-file"))
    disk = next(word for word in record["argv"] if word.startswith("if=none,id=rootfs"))
    with Path(backend.partition("mem-path=")[2].partition(",")[0]).open("rb") as memory:
        memory.seek(128 << 20)
        return memory.read(8 << 20), Path(disk.partition("file=")[2].partition(",")[0]).read_bytes()


def test_the_ram_is_filled_from_a_disk_whose_path_is_long(kept: Boot) -> None:
    assert power_on(kept("long-path", "self-refresh")) == ("kept-ram", None)


@pytest.mark.parametrize(("fault", "refused"), RAM_FAULTS)
def test_what_is_wrong_with_the_ram_is_refused_and_the_disk_is_booted(kept: Boot, fault: str, refused: str) -> None:
    record = kept("verity", f"self-refresh:{fault}")
    assert record["outcome"] == "ready" and record["power_on"]["source"] == "disk"
    assert record["power_on"]["refused"].startswith(refused)


def test_a_turned_bit_is_found_where_it_is_read(kept: Boot) -> None:
    unread = kept("verity", "self-refresh:file-bit:/etc/not-needed")
    assert unread["outcome"] == "ready" and power_on(unread) == ("kept-ram", None)
    # The kernel restarts the machine, and what the header says of that start has the next one refuse: `start-hung`.
    read = kept("verity", "self-refresh:file-bit:/etc/needed")
    assert read["outcome"] == "not ready" and "guest reset before ready" in read["detail"]
    # Checked before it is mounted, in the same power-on.
    checked = kept("all", "self-refresh:file-bit:/etc/not-needed")
    assert checked["outcome"] == "ready" and checked["power_on"]["source"] == "disk"
    assert checked["power_on"]["refused"].startswith("a block is not what it was")
    # What nobody has read is looked at behind ready: else each start would be passed, and restarted when it is read.
    settled, good = kept("settled", "warm-reset:file-bit:/etc/not-needed"), kept("settled", "warm-reset")
    assert settled["outcome"] == "ready" and power_on(settled) == ("kept-ram", None)
    assert "not_kept" in settled["marks"] and "kept" not in settled["marks"]
    assert "kept" in good["marks"] and "not_kept" not in good["marks"]
    # The named risk: nobody looks.
    blind = kept("header", "self-refresh:file-bit:/etc/needed")
    assert blind["outcome"] == "ready" and power_on(blind) == ("kept-ram", None)


def test_a_file_that_the_root_has_not_is_said_before_anything_is_booted(
    kept_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(kept_folder / "all.toml")
    with pytest.raises(InputError, match=r"power_on\.fault_file: /etc/none is no file in \[rootfs\]"):
        run(["boot", path, "--power-on", "self-refresh:file-bit:/etc/none", "--seed", "7", "--runs", str(tmp_path)])
    assert "the boot that leaves" not in capsys.readouterr().err


def test_a_hibernated_machine_goes_on_with_random_numbers_of_its_own(sleeper: Boot) -> None:
    one, again, other = (sleeper("sleeper", "hibernated", "--seed", seed) for seed in ("1", "1", "2"))
    for record in (one, again, other):
        assert record["outcome"] == "ready" and power_on(record) == ("image", None)
        assert 0 < record["marks"]["resuming"] < record["marks"]["woke"] < record["marks"]["ready"]
        assert record["facts"]["starts"] == "1", "it was started once, and its disk is as it left it"
        assert record["facts"]["note"] == "bootlab-hibernation taken", "so it is not taken a second time"
    assert one["marks"] == again["marks"] and one["facts"]["drawn"] == again["facts"]["drawn"]
    assert one["facts"]["drawn"] != other["facts"]["drawn"], "another power-on draws other numbers from one image"


def test_a_clock_does_not_go_back_though_the_machines_own_begins_anew(sleeper: Boot) -> None:
    """The emulated clock stands at one date at every power-on, which is before the image was made."""
    assert 0 <= int(sleeper("sleeper", "hibernated")["facts"]["clock_went"]) < 60


def test_an_image_is_as_large_as_the_system_says(sleeper: Boot) -> None:
    smallest, whole, cached = (sleeper(name, "hibernated") for name in ("smallest", "whole", "cached"))
    for record in (smallest, whole, cached):
        assert record["outcome"] == "ready" and power_on(record) == ("image", None), record["detail"]
    kept = [int(record["facts"]["image_page_cache_kib"]) for record in (whole, cached)]
    assert kept[1] - kept[0] > 1900, "a file of 1,953 KiB was read before"
    swapped = [int(record["facts"]["image_swapped_kib"]) for record in (smallest, whole, cached)]
    assert swapped[0] > 0 and swapped[1:] == [0, 0], "the shell's memory is in the swap area, beside the image"


def test_an_image_that_finds_no_room_is_not_made_and_the_reason_is_told(sleeper: Boot) -> None:
    assert sleeper("no-room", "cold")["outcome"] == "ready"
    with pytest.raises(AssertionError, match="not put to sleep: the kernel: No space left on device"):
        sleeper("no-room", "hibernated")


def test_a_kernel_that_does_not_take_the_mode_does_not_sleep_in_another(sleeper: Boot) -> None:
    said = r"not put to sleep: /sys/power/disk does not take the mode shutdown: Operation not permitted"
    with pytest.raises(AssertionError, match=said):
        sleeper("no-mode", "hibernated")


def test_an_image_waits_for_the_driver_of_each_disk_that_it_needs(sleeper: Boot) -> None:
    record = sleeper("later-root", "hibernated")
    assert record["outcome"] == "ready" and power_on(record) == ("image", None), record["detail"]
    assert record["facts"]["starts"] == "1"


@pytest.mark.parametrize(
    ("fault", "refused"),
    [
        ("other-kernel", "it is of another kernel"),
        ("image-cut", "the kernel does not take it"),
        ("root-changed", "changed since it was made: the file system on /dev/vda"),
        ("image-taken", "it was taken before"),
    ],
)
def test_an_image_that_is_not_this_machine_is_refused_and_it_starts_cold(
    sleeper: Boot, fault: str, refused: str
) -> None:
    record = sleeper("sleeper", f"hibernated:{fault}")
    assert record["outcome"] == "ready" and "woke" not in record["marks"], record["detail"]
    assert record["power_on"]["refused"].startswith(refused)
    assert record["facts"]["starts"] == "2", "it was started again, after the start that was put to sleep"


def test_a_suspended_machine_is_timed_from_its_wake(suspender: Boot) -> None:
    one = suspender("suspender", "suspended")
    marks = one["marks"]
    assert one["outcome"] == "ready" and one["power_on"]["kind"] == "suspended"
    assert 0 == marks["wake"] < marks["kernel_wakes"] < marks["woke"] < marks["ready"] < 100_000_000
    assert "power_on" not in marks and "start_kernel" not in marks, "what was before the wake is no part of it"
    assert sum(phase["duration_ns"] for phase in one["phases"]) == marks["ready"]


def test_a_machine_that_idles_is_woken_by_a_key_and_timed_from_there(suspender: Boot) -> None:
    one = suspender("suspender", "s2idle")
    marks = one["marks"]
    assert one["outcome"] == "ready" and one["power_on"]["kind"] == "s2idle"
    assert 0 == marks["wake"] < marks["woke"] < marks["ready"] < 100_000_000
    assert "kernel_wakes" not in marks and "power_on" not in marks, "no firmware has a part in it"
    assert [phase["name"] for phase in one["phases"]] == ["kernel and devices", "application"]


def test_a_machine_wakes_by_its_own_alarm_before_somebody_comes(suspender: Boot) -> None:
    one = suspender("by-alarm", "suspended")
    wake = one["power_on"]["wake"]
    assert one["outcome"] == "ready" and wake["by"] == "rtc"
    # The clock knows whole seconds, and the guest reads it some way into one.
    assert 3_000_000_000 < wake["slept_ns"] <= 4_000_000_000
    assert wake["ignition_ns"] + wake["slept_ns"] == 6_500_000_000 and wake["ignition_to_ready_ns"] == 0
    assert wake["idle_awake_ns"] == wake["ignition_ns"] - one["instructions"]
    assert 100_000 < wake["fell_asleep_ns"] < wake["slept_ns"] - 2_000_000_000, "it fell asleep, and then slept"


def test_an_alarm_at_a_time_of_day_does_not_mind_when_the_machine_fell_asleep(suspender: Boot) -> None:
    one = suspender("of-day", "suspended")
    wake = one["power_on"]["wake"]
    assert one["outcome"] == "ready" and wake["at"] == "power_on"
    assert 0 <= wake["at_to_wake_ns"] - 4_000_000_000 < 1_000_000 and wake["slept_ns"] < 3_000_000_000
    assert wake["ignition_ns"] == 6_500_000_000 - wake["at_to_wake_ns"] and wake["ignition_to_ready_ns"] == 0
    over = suspender("of-day-over", "suspended")
    assert over["outcome"] == "not ready" and "the time of its alarm is over" in over["detail"]


@pytest.mark.parametrize(("name", "kind"), [("behind-asleep", "suspended"), ("behind-own", "s2idle")])
def test_a_wake_may_count_from_any_mark_before_it(suspender: Boot, name: str, kind: str) -> None:
    record = suspender(name, kind)
    wake = record["power_on"]["wake"]
    assert record["outcome"] == "ready" and wake["at"] == name.replace("behind-own", "door_shut").removeprefix(
        "behind-"
    )
    assert 0 <= wake["at_to_wake_ns"] - 1_500_000_000 < 1_000_000
    assert (wake["slept_ns"] > wake["at_to_wake_ns"]) == (wake["at"] == "asleep")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("behind-none", "nothing woke it: wake.at is door_open, a mark that it did not make"),
        ("too-soon", "ms before it was asleep, and wakes nobody then"),
    ],
)
def test_a_machine_that_nothing_wakes_says_why(suspender: Boot, name: str, said: str) -> None:
    record = suspender(name, "suspended")
    assert record["outcome"] != "ready" and said in record["detail"]


@pytest.mark.parametrize("kind", ["suspended", "s2idle"])
def test_a_key_wakes_a_machine_at_its_time(suspender: Boot, kind: str) -> None:
    record = suspender("by-key", kind)
    wake = record["power_on"]["wake"]
    assert record["outcome"] == "ready" and 0 <= wake["slept_ns"] - 1_500_000_000 < 1_000_000
    # Somebody comes a tenth of a millisecond after the key, and waits for the rest.
    assert wake["ignition_to_ready_ns"] == record["marks"]["ready"] - wake["ignition_ns"] > 0


@pytest.mark.parametrize(
    ("guest", "name", "kind"),
    [
        ("kept", "verity", "cold"),
        ("kept", "verity", "self-refresh"),
        ("kept", "verity", "warm-reset"),
        ("sleeper", "sleeper", "hibernated"),
        ("suspender", "suspender", "suspended"),
        ("suspender", "by-alarm", "suspended"),
        ("suspender", "suspender", "s2idle"),
    ],
)
def test_three_boots_of_a_kind_are_identical(request: pytest.FixtureRequest, guest: str, name: str, kind: str) -> None:
    boot: Boot = request.getfixturevalue(guest)
    one, *others = (boot(name, kind) for _ in range(3))
    assert one["outcome"] == "ready" and one["power_on"]["kind"] == kind and one["marks"]
    for other in others:
        for what in ("marks", "instructions", "idle_ns", "phases", "power_on", "facts", "key"):
            assert other[what] == one[what], what


def test_each_device_of_a_suspended_machine_says_how_long_it_took(tmp_path: Path) -> None:
    """A keyboard on USB is reset as it wakes, and its port waited for; which of it all is in the record."""
    boot = boots_of(EXAMPLES / "persistence", tmp_path / "runs")
    plain, told = (boot("suspended-devices", kind) for kind in ("suspended", "suspended:devices"))
    assert plain["outcome"] == told["outcome"] == "ready"
    assert "devices" not in plain["power_on"] and "devices_untold" not in plain["power_on"]
    taken = {one["driver"]: one["duration_ns"] for one in reversed(told["power_on"]["devices"])}
    woke_ns = plain["marks"]["woke"]
    assert {"usb", "e1000e", "xhci_hcd"} <= set(taken) and woke_ns / 4 < taken["usb"] < woke_ns
    assert "events that" not in told["power_on"]["devices_untold"] and "lines" not in told["power_on"]["devices_untold"]
    assert woke_ns < told["marks"]["woke"] < 1.05 * woke_ns, "to note it all takes little"
