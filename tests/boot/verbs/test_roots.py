"""Roots as people have them boot, exactly: container images in both forms, a tar of a Debian, an Alpine-like folder."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from bootlab.build.cache import file_sha256
from bootlab.build.debian import packages
from bootlab.build.debian.install import install_root
from bootlab.build.programs.guest import zig_folders
from bootlab.build.workshop import Workshop
from bootlab.cli.app import run
from tests.build.given_root.images import Layout, config, docker_save, tar

pytestmark = [pytest.mark.boot, pytest.mark.network]

SUITE, ARCH = "trixie", "x86_64"
PASSWD = b"root::0:0:root:/root:/bin/sh\nweb:x:1000:1000::/www:/bin/sh\n"
CGI = b"#!/bin/sh\necho Content-type: text/plain\necho\nid -u\npwd\necho $GREETING\n"


def booted(path: Path | str, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Boot a root by the verb; returns its record, with its console."""
    capsys.readouterr()
    done = run(["boot", str(path), "--json", "--runs", str(folder)])
    said = capsys.readouterr()
    assert done == 0, said.out[-2000:] + said.err[-2000:]
    record: dict[str, Any] = json.loads(said.out)
    return {**record, "console": (Path(record["run"]) / "console.log").read_text(errors="replace")}


def exact(path: Path | str, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Boot a root twice; both must be the same in every mark, count and line of the console."""
    first, second = (booted(path, folder, capsys) for _ in range(2))
    for key in ("marks", "instructions", "hashes", "console"):
        assert first[key] == second[key], key
    with capsys.disabled():
        print(f"\n{Path(path).name}: {first['marks'].items()}, {first['hashes']}")
    return first


@pytest.fixture(scope="module")
def busybox(shop: Workshop) -> bytes:
    tree = packages.fetch(shop, "busybox-static", SUITE, ARCH, key="packages").tree
    return next(path for path in tree.rglob("bin/busybox") if path.is_file()).read_bytes()


@pytest.mark.promise("roots")
def test_a_container_image_starts_its_command_alike_in_every_form(
    shop: Workshop, busybox: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    links = {f"bin/{name}": "-> busybox" for name in ("sh", "httpd", "id", "pwd", "echo")}
    below = tar(
        {"bin/busybox": busybox, **links, "etc/passwd": PASSWD, "www/old": b"x", "www/cgi-bin/who": b"#!/bin/false"}
    )
    above = tar({"www/.wh.old": b"", "www/cgi-bin/who": CGI})
    about = config(
        [below, above],
        Entrypoint=["httpd", "-f", "-v"],
        Cmd=["-p", "8080", "-h", "/www"],
        Env=["PATH=/bin", "GREETING=hello there"],
        WorkingDir="/www",
        User="web",
        ExposedPorts={"8080/tcp": {}},
    )
    layout = Layout(tmp_path / "layout")
    folder = layout.write(layout.image([below, above], about, "web"))
    saved = docker_save(tmp_path / "saved.tar", {"web:1": ([below, above], about)})
    # The forms as another program writes them, out of ours.
    archive, copied = tmp_path / "oci-archive.tar", tmp_path / "docker-archive.tar"
    for form in (f"oci-archive:{archive}", f"docker-archive:{copied}"):
        words = ["skopeo", "copy", "--insecure-policy", f"oci:{folder}:web", f"{form}:web:1"]
        subprocess.run(words, check=True, capture_output=True)
    before = file_sha256(archive)
    first = exact(archive, tmp_path / "runs", capsys)
    assert first["marks"]["root_init"] < first["marks"]["port_8080"]
    for one in (copied, saved):
        other = booted(f"docker-archive:{one}", tmp_path / "runs", capsys)
        assert other["hashes"]["rootfs"] == first["hashes"]["rootfs"] and other["marks"] == first["marks"]
    assert file_sha256(archive) == before
    # Who it is and what it was told, as an engine has it: ready once it says so.
    system = tmp_path / "system.toml"
    assert run(["boot", str(folder), "--write-system", str(system)]) == 0
    said = 'send = "GET /cgi-bin/who HTTP/1.0\\r\\n\\r\\n"\nexpect = "1000\\n/www/cgi-bin\\nhello there"\n'
    text = system.read_text()
    assert "tcp = 8080\n" in text
    system.write_text(text.replace("tcp = 8080\n", f"tcp = 8080\n{said}").replace("1800.0", "120.0"))
    asked = booted(system, tmp_path / "runs", capsys)
    assert asked["outcome"] == "ready" and asked["marks"]["port_8080"] > first["marks"]["port_8080"]


@pytest.mark.promise("roots")
def test_a_tar_of_a_debian_starts_its_own_systemd(
    shop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed = install_root(shop, ["systemd-sysv", "udev", "dbus", "login"], SUITE, ARCH, key="packages")
    archive = tmp_path / "debian.tar.zst"
    archive.write_bytes(zstandard.ZstdCompressor(level=1).compress(installed.tars[0].read_bytes()))
    record = exact(archive, tmp_path / "runs", capsys)
    assert "Welcome to" in record["console"] and " login:" in record["console"]
    assert record["marks"]["root_init"] < record["marks"]["ready"]


@pytest.mark.promise("roots")
def test_a_folder_as_alpine_lays_it_out_runs_what_is_linked_with_musl(
    shop: Workshop, busybox: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, source = tmp_path / "alpine", tmp_path / "hello.c"
    libc = packages.fetch(shop, "musl", SUITE, ARCH, key="packages").tree
    source.write_text('#include <stdio.h>\nint main(void) { puts("hello from musl"); return 0; }\n')
    for name in ("bin", "etc", "lib", "sbin", "dev", "proc"):
        (root / name).mkdir(parents=True)
    words = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-musl", "-dynamic", str(source)]
    subprocess.run(
        [*words, "-o", str(root / "bin/hello")], check=True, env=zig_folders(shop.cache), capture_output=True
    )
    assert b"/lib/ld-musl-x86_64.so.1" in (root / "bin/hello").read_bytes()
    loader = next(path for path in libc.rglob("libc.so") if path.is_file())
    shutil.copyfile(loader, root / "lib/ld-musl-x86_64.so.1")
    (root / "lib/ld-musl-x86_64.so.1").chmod(0o755)
    (root / "bin/busybox").write_bytes(busybox)
    (root / "bin/busybox").chmod(0o755)
    for name in ("bin/sh", "bin/mount", "sbin/init", "sbin/getty", "bin/login"):
        (root / name).symlink_to("/bin/busybox")
    (root / "etc/passwd").write_bytes(PASSWD)
    (root / "etc/inittab").write_text(
        "::sysinit:/bin/mount -t proc proc /proc\n::sysinit:/bin/hello\n"
        "ttyS0::respawn:/sbin/getty -L 115200 ttyS0 vt100\n"
    )
    record = exact(root, tmp_path / "runs", capsys)
    assert "hello from musl" in record["console"] and " login:" in record["console"]


def test_a_root_on_a_disk_that_is_not_there_ends_with_that_word(
    busybox: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And not at the deadline, half an hour later."""
    archive, file = tmp_path / "root.tar", tmp_path / "system.toml"
    archive.write_bytes(tar({"bin/busybox": busybox, "sbin/init": "-> ../bin/busybox", "etc/passwd": PASSWD}))
    assert run(["boot", str(archive), "--write-system", str(file)]) == 0
    file.write_text(file.read_text().replace("root=/dev/vda", "root=/dev/vdz"))
    capsys.readouterr()
    assert run(["boot", str(file), "--json", "--runs", str(tmp_path / "runs")]) == 1
    record = json.loads(capsys.readouterr().out)
    assert "root=/dev/vdz: no such device after 10 s; there is: vda" in record["detail"], record["detail"]
