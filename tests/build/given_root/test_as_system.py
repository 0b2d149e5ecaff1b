"""Roots as systems: kernel, init of choice, what is ready, and the same as a system file."""

from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.given_root.as_system import is_prefixed, open_root
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import MachineType, System, read_system
from bootlab.system.text import system_text
from tests.build.given_root.images import ELF_X86_64, config, docker_save, tar

ARM = ELF_X86_64[:18] + b"\xb7\x00" + ELF_X86_64[20:]
ROOT = {"sbin/init": "-> ../lib/systemd/systemd", "lib/systemd/systemd": ELF_X86_64, "sbin/agetty": ELF_X86_64}


def opened(path: Path, told: list[str] | None = None) -> System:
    said = told if told is not None else []
    system = open_root(Workshop(Cache(path.parent / "cache"), tell=said.append), path)
    file = path.parent / "system.toml"
    file.write_text(system_text(system))
    assert read_system(file) == system
    return system


def image(folder: Path, files: dict[str, Any], architecture: str = "amd64", **process: Any) -> Path:
    layers = [tar(files)]
    return docker_save(folder / "my image.tar", {"app:1": (layers, config(layers, architecture, **process))})


def test_a_tar_of_a_root_starts_its_own_init(tmp_path: Path) -> None:
    archive, told = tmp_path / "debian.tar.gz", list[str]()
    archive.write_bytes(tar({**ROOT, "usr/sbin/sshd": ELF_X86_64}))
    system = opened(archive, told)
    assert system.name == "debian" and system.machine.type is MachineType.Q35
    assert system.kernel.package == "linux-image-cloud-amd64" and system.kernel.suite == "trixie"
    assert system.rootfs is not None and (system.rootfs.source, system.rootfs.start) == (archive, "init")
    assert system.initramfs is not None and system.initramfs.mount_root
    assert system.booted.console == "login:" and system.network is not None and "ssh" in system.network.probes
    assert "starts its own init (systemd)" in told and any("kernel.package and kernel.suite" in line for line in told)


def test_an_image_starts_its_command_and_is_ready_when_its_port_answers(tmp_path: Path) -> None:
    told: list[str] = []
    files = {"bin/app": ELF_X86_64}
    system = opened(image(tmp_path, files, Cmd=["app", "-p"], ExposedPorts={"8080/tcp": {}, "443": {}}), told)
    assert system.name == "my-image" and system.rootfs is not None and system.rootfs.start == "command"
    assert system.booted.mark == "port_443" and system.network is not None
    assert {one.tcp for one in system.network.probes.values()} == {443, 8080}
    assert "starts app -p, by bootlab-init" in told
    (tmp_path / "b").mkdir()
    system = opened(image(tmp_path / "b", files, Cmd=["app"]))
    assert system.booted.mark == "ready"


def test_an_image_for_arm64_gets_its_machine(tmp_path: Path) -> None:
    system = opened(image(tmp_path, {"bin/app": ARM}, "arm64", Cmd=["app"]))
    assert system.machine.type is MachineType.VIRT and system.kernel.package == "linux-image-cloud-arm64"
    assert "console=ttyAMA0" in system.kernel.cmdline


def test_the_image_that_was_named_is_in_the_system_file(tmp_path: Path) -> None:
    layers = [tar({"bin/app": ELF_X86_64})]
    both = {name: (layers, config(layers, Cmd=["/bin/app", name])) for name in ("a:1", "b:2")}
    saved = docker_save(tmp_path / "x.tar", both)
    root = open_root(Workshop(Cache(tmp_path / "cache")), Path(f"docker-archive:{saved}:b:2")).rootfs
    assert root is not None and root.source_image == "b:2" and root.source == saved
    assert is_prefixed("oci:x") and not is_prefixed("docker-archive.tar")


def test_a_root_without_a_prompt_is_ready_when_its_init_is_started_or_ssh_answers(tmp_path: Path) -> None:
    told: list[str] = []
    archive = tmp_path / "root.tar"
    archive.write_bytes(tar({"sbin/init": ELF_X86_64, "etc/inittab": b"1:2:respawn:/sbin/getty tty1\n"}))
    assert opened(archive, told).booted.mark == "root_init" and "nothing in it asks for a login" in told[-1]
    archive.write_bytes(tar({"sbin/init": ELF_X86_64, "usr/sbin/dropbear": ELF_X86_64}))
    assert opened(archive).booted.mark == "ssh"


def test_what_cannot_be_booted_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "root.tar"
    archive.write_bytes(tar({"bin/sh": ELF_X86_64}))
    with pytest.raises(InputError, match="no /sbin/init in it, and nothing that says what to start") as caught:
        opened(archive)
    assert 'start = "command"' in str(caught.value.hint)
    archive.write_bytes(tar({"sbin/init": ELF_X86_64[:18] + b"\xf3\x00" + ELF_X86_64[20:]}))
    with pytest.raises(InputError, match="its programs are for riscv64, and bootlab boots roots of x86_64 and aarch64"):
        opened(archive)
    for path, match in ((tmp_path / "gone.tar", "no such file"), (Path(f"oci:{archive}"), "no container image")):
        with pytest.raises(InputError, match=match):
            opened(path)
