"""The NFS example's client and server: a Debian kernel does the job, and fails the check without the server."""

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system
from bootlab.targets.qemu.session import find_free_port
from tests.boot.conftest import EXAMPLES, Boot

pytestmark = [
    pytest.mark.boot,
    pytest.mark.network,
    pytest.mark.skipif(
        shutil.which("ganesha.nfsd") is None,
        reason="needs ganesha.nfsd: apt-get install --no-install-recommends nfs-ganesha nfs-ganesha-mem",
    ),
]

MICROVM = EXAMPLES / "microvm"
# The example's kernel has all built in; here the client is started when its modules are loaded.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc
while read -r path; do /bin/busybox insmod "$path"; done </etc/bootlab/modules
exec /sbin/nfs_client
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where the example's own server listens, which ends with the tests."""
    port = find_free_port()
    with subprocess.Popen([str(MICROVM / "nfs-server"), str(port)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == f"nfs-server: 127.0.0.1:{port}, export /export\n"
        yield port
        server.send_signal(signal.SIGTERM)
    assert server.returncode == 143


def boot_client(run_boot: Boot, tmp_path: Path, port: int) -> BootRecord:
    (tmp_path / "init").write_text(INIT)
    text = (MICROVM / "nfs-client.toml").read_text()
    build = re.search(r"\[kernel\.build\]\n.*?\n\n", text, re.DOTALL)
    assert build is not None
    text = text.replace(build[0], "").replace("nfs_port=20490", f"nfs_port={port} cryptomgr.notests")
    text = text.replace('type = "microvm"', 'type = "q35"').replace('options = { acpi = "off" }\n', "")
    package = 'package = "linux-image-cloud-amd64"\nsuite = "trixie"'
    text = text.replace('entry = "pvh"', package)
    text = text.replace(
        'init = "nfs_client.c"\nbusybox = false',
        f'init = "init"\nfiles = {{ "/sbin/nfs_client" = "{MICROVM}/nfs_client.c" }}\n'
        'modules = ["virtio_pci", "virtio_net", "nfsv4"]',
    )
    (tmp_path / "nfs.toml").write_text(text)
    return run_boot(read_system(tmp_path / "nfs.toml"))


def test_it_does_its_job_against_the_server(run_boot: Boot, tmp_path: Path, port: int) -> None:
    record = boot_client(run_boot, tmp_path, port)
    assert record.outcome is Outcome.READY, record.detail


def test_without_a_server_its_check_fails(run_boot: Boot, tmp_path: Path) -> None:
    record = boot_client(run_boot, tmp_path, find_free_port())
    assert record.outcome is Outcome.CHECK_FAILED
    assert "mount 10.0.2.2:/export" in record.detail
