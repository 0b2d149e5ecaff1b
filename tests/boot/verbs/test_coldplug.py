"""The example with many devices: its list is what its boot finds, all of them work, and what is missing is named."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network]

EXAMPLES = Path(__file__).parents[3] / "examples"


def _bootlab(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bootlab", *words], capture_output=True, text=True, check=False, timeout=900
    )


def _modaliases(path: Path) -> set[str]:
    # A machine's own, whatever QEMU's version and its model of a CPU call themselves.
    words = {line.split()[0] for line in path.read_text().splitlines() if not line.startswith("#")}
    return {word for word in words if not word.startswith(("cpu:", "dmi:"))}


@pytest.mark.promise("bootlab coldplug")
def test_the_list_of_the_example_is_what_its_boot_finds_and_every_device_works(tmp_path: Path) -> None:
    done = _bootlab("coldplug", EXAMPLES / "coldplug.toml", "-o", tmp_path / "devices", "--json", "--runs", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("booting, ") == 0, "json says nothing else"
    document = json.loads(done.stdout)
    assert document["outcome"] == "ready", "the guest has read its disks, found its card, keyboard and sound"
    assert _modaliases(tmp_path / "devices") == _modaliases(EXAMPLES / "coldplug" / "devices")
    drivers = {device["driver"] for device in document["devices"]}
    assert {"virtio_blk", "ahci", "usb-storage", "e1000e", "usbhid", "snd_ens1370"} <= drivers
    assert document["idle"] == []
    assert _bootlab("report", "last", "--json", "--runs", tmp_path).stdout == done.stdout


def test_udev_after_the_plan_names_links_and_guards_devices_as_udev_alone_does(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "coldplug", tmp_path / "coldplug")
    against = tmp_path / "coldplug/against"
    groups = "root tty disk lp kmem dialout cdrom tape audio video sgx input kvm render".split()
    (against / "group").write_text("".join(f"{name}:x:{number}:\n" for number, name in enumerate(groups)))
    text = (against / "plan.toml").read_text().replace('{ "/etc', '{ "/etc/group" = "group", "/etc')
    named = {}
    for by in ("udev", "both"):
        (against / f"{by}.toml").write_text(text.replace("by=plan", f"by={by} names=early"))
        done = _bootlab("boot", against / f"{by}.toml", "--runs", tmp_path / by)
        assert done.returncode == 0, done.stdout + done.stderr
        console = next((tmp_path / by).rglob("console.log")).read_text(errors="replace").replace("\r", "")
        lines = (line for line in console.splitlines() if line.startswith(("dev: ", "/sys/class/net/")))
        # The order in which drivers came decides these numbers, and which of three equal disks a label's link is for.
        named[by] = {
            re.sub(r"(event|mouse|hidraw)\d+", r"\1", line)
            for line in lines
            if not re.search(r"'/dev/(char|block|disk/by-label|disk/by-uuid)/", line)
        }
    assert named["both"] == named["udev"]
    # Not only the kernel's own names and owner.
    assert any("/dev/disk/by-id/" in line for line in named["udev"])
    assert len({line.split()[2] for line in named["udev"] if line.startswith("dev: ")}) > 3, "owners and groups"


def test_a_device_that_never_comes_is_named_and_the_boot_goes_on(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "coldplug", tmp_path / "coldplug")
    text = (EXAMPLES / "coldplug.toml").read_text()
    text = text.replace('"/dev/vda" = 10', '"/dev/vdz" = 0.5\n"/dev/vda" = 10')
    (tmp_path / "coldplug.toml").write_text(text)
    done = _bootlab("boot", tmp_path / "coldplug.toml", "--runs", tmp_path / "runs")
    assert done.returncode == 0, done.stdout + done.stderr
    console = next((tmp_path / "runs").rglob("console.log")).read_text(errors="replace")
    assert "/dev/vdz: not there after 0.500 s; the boot goes on without it" in console
    assert "bootlab: check ok" in console
