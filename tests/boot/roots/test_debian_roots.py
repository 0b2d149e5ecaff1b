"""A Debian root on each file system behind a stock kernel, and an initramfs freed of files that no boot opens."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

SYSTEM = Path(__file__).parent / "debian_root" / "root.toml"


@pytest.mark.parametrize(("filesystem", "compression"), [("ext4", "none"), ("squashfs", "zstd"), ("erofs", "lz4")])
def test_a_debian_root_becomes_ready_on_every_file_system(
    filesystem: str, compression: str, run_boot: Callable[[System], BootRecord]
) -> None:
    system = read_system(SYSTEM).with_part("rootfs", filesystem=filesystem, compression=compression)
    words = system.kernel.cmdline.replace("rootfstype=ext4", f"rootfstype={filesystem}")
    record = run_boot(system.with_part("kernel", cmdline=words))
    console = Path(record.run, "console.log").read_text(errors="replace")
    assert record.outcome is Outcome.READY, console[-800:]
    assert f"root: debian bookworm on {filesystem}" in console
    assert record.sizes["rootfs"] > 30_000_000


@pytest.mark.promise("bootlab unused")
def test_files_that_a_boot_never_opens_are_listed_and_it_boots_without_them(tmp_path: Path) -> None:
    text = (EXAMPLES / "debian-cloud.toml").read_text().replace("panic=-1", "panic=-1 cryptomgr.notests")
    text = text.replace('"cloud/', f'"{EXAMPLES}/cloud/')
    path, written = tmp_path / "cloud.toml", tmp_path / "without.toml"
    path.write_text(text)
    words = [sys.executable, "-m", "bootlab", "unused", str(path), "--json", "--to", str(written)]
    done = subprocess.run([*words, "--runs", str(tmp_path / "runs")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    part = document["parts"]["initramfs"]
    unused = {file["path"] for file in part["unused"]}
    assert document["schema"] == "bootlab.unused/1" and document["checked"]
    assert not {"/init", "/bin/busybox", "/sbin/answer", "/etc/bootlab/modules"} & unused
    # Debian's busybox runs its applets itself, whatever they are called in /bin.
    assert {"/bin/vi", "/bin/nc"} <= unused
    assert any(path.endswith("/drivers/scsi") for path in part["without"])
    assert not any("virtio_net.ko" in path or "ext4" in path for path in unused)
    assert part["size_without"] < 0.6 * part["size"]
    assert document["ready_without_ns"] < document["ready_ns"]
    assert document["outcome_without"] == "ready"
    words = [sys.executable, "-m", "bootlab", "report", document["run"], "--json"]
    assert subprocess.run(words, capture_output=True, text=True, check=False).stdout == done.stdout
    # The list is what the recipe takes.
    path.write_text(text.replace("[initramfs]\n", written.read_text() + "\n", 1))
    system = read_system(path)
    assert system.initramfs is not None and list(system.initramfs.without) == part["without"]
