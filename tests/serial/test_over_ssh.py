"""A real machine that is asked over ssh: an emulated PC that starts from its own disk, with Debian's sshd on it.

bootlab has nothing of it but a power command, its serial line and the address.
"""

import base64
import json
import socket
import subprocess
from pathlib import Path

import pytest

from bootlab.cli.app import run
from tests.serial.null_modem import NullModem

pytestmark = [pytest.mark.boot, pytest.mark.network]

# The key reaches the machine as one of systemd's credentials, by the firmware, so that its disk is as it was made.
SYSTEM = """
[machine]
type = "x86_64-board"
cpu = "an emulated PC"
[kernel]
installed = true
[target]
kind = "serial"
port = "{port}"
power_on = '''
setsid qemu-system-x86_64 -nodefaults -display none -machine q35 -cpu max -m 512 -no-reboot -serial {machine} \
  -drive file={image},format=raw,if=virtio,snapshot=on -nic user,model=virtio,hostfwd=tcp:127.0.0.1:{ssh_port}-:22 \
  -smbios type=11,value=io.systemd.credential.binary:ssh.authorized_keys.root={key} >{folder}/log 2>&1 &
echo $! >{folder}/pid
'''
power_off = "[ ! -e {folder}/pid ] || kill -9 $(cat {folder}/pid) || true; rm -f {folder}/pid"
off_s = 0
[target.shell]
command = "{ssh}"
[booted]
console = "login: "
deadline_s = 400
"""


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A key of this test's own."""
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path


@pytest.fixture
def machine(key: Path, modem: NullModem, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The system file of a PC with a Debian on its disk."""
    image = tmp_path / "disk.img"
    # Read-only first, as Debian mounts its root, what the boot reads until then leaves no time.
    assert run(["build", "image", "--cmdline", "rw", "--output", str(image)]) == 0
    capsys.readouterr()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ssh_port = free.getsockname()[1]
    ssh = (
        f"ssh -p {ssh_port} -i {key} -o BatchMode=yes -o LogLevel=ERROR -o StrictHostKeyChecking=no "
        "-o UserKnownHostsFile=/dev/null -o ConnectionAttempts=10 root@127.0.0.1 sh"
    )
    public = base64.b64encode(key.with_suffix(".pub").read_bytes()).decode()
    words = {"port": modem.port, "machine": modem.machine, "image": image, "folder": tmp_path}
    path = tmp_path / "pc.toml"
    path.write_text(SYSTEM.format(ssh=ssh, ssh_port=ssh_port, key=public, **words))
    return path


def test_it_tells_what_its_boot_did_and_what_it_never_read(
    machine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, listed = str(tmp_path / "runs"), tmp_path / "unused.txt"
    assert run(["unused", str(machine), "--to", str(listed), "--json", "--runs", runs]) == 0
    document = json.loads(capsys.readouterr().out)
    part = document["parts"]["root"]
    unread = set(listed.read_text().splitlines())
    assert {"/usr/sbin/mke2fs", "/usr/bin/perl"} <= unread
    assert not {"/usr/lib/systemd/systemd", "/usr/sbin/sshd", "/etc/passwd", "/etc/fstab"} & unread
    assert part["files"] > part["unused_files"] > 500 and part["unsure_files"] < part["files"] // 10
    with capsys.disabled():
        print(f"\n{part['unused_files']} of {part['files']} files were never read, {part['unsure_files']} unsure")

    assert run(["profile", str(machine), "--json", "--runs", runs]) == 0
    (imported,) = json.loads(capsys.readouterr().out)["imported"]
    names = {one["name"] for one in imported["files"]}
    assert {"dmesg", "console.log"} < names and any(name.startswith("systemd") for name in names)
    units = {one["name"] for one in imported["recording"]["timeline"]["spans"] if one["source"] == "unit"}
    assert "ssh.service" in units
