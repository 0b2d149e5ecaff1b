"""Output folders of Buildroot and Yocto, laid out as theirs of a real kernel and a real root, boot as their tools say.

What a trial on Buildroot's folder finds is written back by `bootlab apply`: with its script run over the images, as
Buildroot runs it, the folder boots to the figure of the trial.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bootlab.build.boot_files import build_root_of
from bootlab.build.workshop import Workshop
from bootlab.cli.app import run
from bootlab.measure.prepare import prepare
from bootlab.system import System, read_system
from tests.build.outputs.folders import YOCTO_IMAGE, YOCTO_KERNEL, buildroot, write, yocto

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

EXAMPLE = Path(__file__).parents[3] / "examples/debian-cloud.toml"
# As Buildroot's fs/cpio/init and system/skeleton have it: devices first, then init, which starts a getty.
INIT = (
    "#!/bin/busybox sh\nbusybox mount -t devtmpfs devtmpfs /dev\nexec 0</dev/console 1>/dev/console 2>&1\n"
    "exec /bin/busybox init\n"
)
INITTAB = "::sysinit:/bin/busybox mount -t proc proc /proc\nttyS0::respawn:/bin/busybox getty -L ttyS0 115200 vt100\n"
WORDS = "console=ttyS0 panic=-1 cryptomgr.notests"
START = (
    "#!/bin/sh\nexec qemu-system-x86_64 -M q35 -m 256 -kernel bzImage -initrd rootfs.cpio.gz "
    f'-append "{WORDS}" -net nic,model=virtio -net user ${{EXTRA_ARGS}} "$@"\n'
)
HELPS = "cmdline_no_timer_check"


@pytest.fixture(scope="module")
def parts(shop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Debian's cloud kernel, and an archive with busybox, its init and a getty on the serial line."""
    folder = tmp_path_factory.mktemp("root")
    example = read_system(EXAMPLE)
    files = {"/etc/inittab": write(folder / "inittab", INITTAB)}
    recipe = {"init": write(folder / "init", INIT), "busybox": True, "files": files}
    system = System.model_validate({**dict(example), "initramfs": recipe, "disks": (), "check": None, "network": None})
    return prepare(shop, system).files.kernel, build_root_of(shop, system, "initramfs").path


def boot_again(folder: Path, runs: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert run(["boot", str(folder), "--json", "--runs", str(runs)]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.promise("output folders")
def test_a_buildroot_folder_boots_and_what_a_trial_found_goes_back_into_it(
    parts: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, runs, changes = buildroot(tmp_path, "u-boot.bin"), tmp_path / "runs", tmp_path / "changes"
    shutil.copyfile(parts[0], output / "images/bzImage")
    shutil.copyfile(parts[1], output / "images/rootfs.cpio.gz")
    write(output / "images/start-qemu.sh", START)
    assert run(["try", str(output), HELPS, "--json", "--runs", str(runs)]) == 0
    trial = json.loads(capsys.readouterr().out)
    assert trial["final"]["recommended"]["techniques"] == [HELPS]
    assert run(["apply", "last", "--to", str(changes), "--runs", str(runs)]) == 0
    assert "BR2_ROOTFS_POST_IMAGE_SCRIPT" in (changes / "buildroot/bootlab.config").read_text()
    assert not (changes / "root").exists()
    env = {**os.environ, "BINARIES_DIR": str(output / "images"), "TARGET_DIR": str(tmp_path / "target")}
    subprocess.run([changes / "buildroot/add-words.sh", output / "images"], env=env, check=True, capture_output=True)
    found = boot_again(output, runs, capsys)
    assert found["ready_ns"] == trial["final"]["recommended"]["ready_ns"] < trial["baseline"]["ready_ns"]


@pytest.mark.promise("output folders")
def test_a_yocto_folder_boots_as_its_qemuboot_conf_says(
    parts: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = yocto(tmp_path, root="cpio.gz")
    shutil.copyfile(parts[0], folder / YOCTO_KERNEL)
    shutil.copyfile(parts[1], folder / f"{YOCTO_IMAGE}.cpio.gz")
    conf = folder / f"{YOCTO_IMAGE}.qemuboot.conf"
    text = conf.read_text().replace("fstype = ext4.zst", "fstype = cpio.gz").replace("-smp 4", "-smp 1")
    conf.write_text(text.replace("Skylake-Client", "max").replace("swiotlb=0", "swiotlb=0 cryptomgr.notests"))
    found = boot_again(tmp_path, tmp_path / "runs", capsys)
    console = (Path(str(found["run"])) / "console.log").read_text()
    assert "root=/dev/ram0 rw debugshell ip=dhcp" in console and " login:" in console
