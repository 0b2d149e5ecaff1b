"""How a machine gets a QEMU that is new enough: by what it runs, and by what apt has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian import packages
from bootlab.build.workshop import Workshop
from bootlab.targets.qemu.getting import _offered, qemu_numbers, way_on

ROOT = Path(__file__).parents[3]
DEBIAN_12 = {"ID": "debian", "VERSION_CODENAME": "bookworm", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"}
UBUNTU = {"ID": "ubuntu", "VERSION_CODENAME": "noble", "PRETTY_NAME": "Ubuntu 24.04.1 LTS"}


@pytest.mark.parametrize(
    ("release", "offered", "way"),
    [
        (DEBIAN_12, "7.2", "make setup installs it, from Debian 12's backports"),
        ({"ID": "debian", "VERSION_CODENAME": "trixie"}, "10.0.2", "make setup installs it"),
        ({"ID": "debian", "VERSION_CODENAME": "trixie"}, "", "make setup installs it"),
        ({**UBUNTU, "VERSION_CODENAME": "plucky"}, "9.2.1", "make setup installs it"),
        ({"ID": "fedora"}, None, "install it with this system's package manager, so that it is on PATH"),
    ],
)
def test_there_is_one_way_for_each_machine(release: dict[str, str], offered: str | None, way: str) -> None:
    assert way_on(release, offered) == way


def test_a_release_without_a_new_qemu_is_led_to_the_container_in_the_words_of_the_setup() -> None:
    way = way_on(UBUNTU, "8.2.2")
    assert way.startswith("Ubuntu 24.04.1 LTS has QEMU 8.2.2; the container image has one: ")
    words = way.partition("; ")[2]
    assert words.replace("`", "\\`") in (ROOT / "scripts" / "setup").read_text()
    command = words.split("`")[1]
    assert f"    {command}\n" in (ROOT / "docs" / "installing.md").read_text()


def test_what_apt_has_is_asked_of_apt() -> None:
    assert (offered := _offered()) is not None
    assert not offered or len(qemu_numbers(offered)) == 2


@pytest.mark.network
def test_a_machine_with_the_qemu_of_debian_12_alone_is_told_the_way(tmp_path: Path) -> None:
    old = packages.fetch(Workshop(Cache.default()), "qemu-system-x86", "bookworm", "x86_64").tree / "usr" / "bin"
    run = subprocess.run([old / "qemu-system-x86_64", "--version"], capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip(f"Debian 12's QEMU does not run here: {run.stderr}")
    environment = {**os.environ, "PATH": f"{old}:{os.environ['PATH']}", "BOOTLAB_RUNS": str(tmp_path)}
    argv = [sys.executable, "-m", "bootlab"]
    doctor = subprocess.run([*argv, "doctor"], env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert doctor.returncode == 3
    first, _, hint = doctor.stdout.splitlines()[:3]
    assert first.startswith("MISSING  qemu-system-x86_64 ") and "version 7.2" in first
    assert hint.strip().startswith("to get it: make setup installs it")
    assert "for every boot: 1 not here (make setup installs what apt has): qemu-system-x86_64\n" in doctor.stdout
    boot = subprocess.run(
        [*argv, "boot", "examples/debian-cloud.toml"], env=environment, cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert boot.returncode == 3
    assert "bootlab needs 9.2 or newer" in boot.stderr and hint.strip().removeprefix("to get it: ") in boot.stderr
