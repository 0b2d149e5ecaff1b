"""Output folders of Buildroot and Yocto, laid out as theirs of a real kernel and a real root, boot as their tools say.

What a trial on Buildroot's folder finds is written back by `bootlab apply`: with its script run over the images, as
Buildroot runs it, the folder boots to the figure of the trial.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bootlab.build.boot_files import build_kernel_of, build_root_of
from bootlab.build.debian import packages
from bootlab.build.kernel.build import BuiltKernel
from bootlab.build.source.config_text import read_config
from bootlab.build.workshop import Workshop
from bootlab.cli.app import run
from bootlab.findings.analysis import read_recorded
from bootlab.measure.record_files import read_record
from bootlab.system import System, read_system
from tests.build.outputs.folders import YOCTO_IMAGE, YOCTO_KERNEL, buildroot, write, yocto, yocto_source

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

TINY = Path(__file__).parents[1] / "tiny_kernel/tiny.toml"
# As Buildroot's fs/cpio/init and system/skeleton have it: devices first, then init, which starts a getty.
INIT = (
    "#!/bin/busybox sh\nbusybox mount -t devtmpfs devtmpfs /dev\nexec 0</dev/console 1>/dev/console 2>&1\n"
    "exec /bin/busybox init\n"
)
INITTAB = "::sysinit:/bin/busybox mount -t proc proc /proc\nttyS0::respawn:/bin/busybox getty -L ttyS0 115200 vt100\n"
WORDS = "console=ttyS0 panic=-1 nolapic_timer"
START = (
    "#!/bin/sh\nexec qemu-system-x86_64 -M microvm,acpi=off -m 64 -kernel bzImage -initrd rootfs.cpio.gz "
    f'-append "{WORDS}" -net nic,model=virtio -net user ${{EXTRA_ARGS}} "$@"\n'
)
HELPS = "cmdline_quiet"


@pytest.fixture(scope="module")
def parts(shop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> tuple[BuiltKernel, Path]:
    """A tiny kernel, and an archive with busybox, its init and a getty on the serial line."""
    folder = tmp_path_factory.mktemp("root")
    tiny = read_system(TINY)
    files = {"/etc/inittab": write(folder / "inittab", INITTAB)}
    recipe = {"init": write(folder / "init", INIT), "busybox": True, "files": files}
    system = System.model_validate({**dict(tiny), "initramfs": recipe})
    return build_kernel_of(shop, system), build_root_of(shop, system, "initramfs").path


def boot_again(folder: Path, runs: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert run(["boot", str(folder), "--json", "--runs", str(runs)]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.promise("output folders")
def test_a_buildroot_folder_boots_and_what_a_trial_found_goes_back_into_it(
    parts: tuple[BuiltKernel, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, runs, changes = buildroot(tmp_path, "u-boot.bin"), tmp_path / "runs", tmp_path / "changes"
    shutil.copyfile(parts[0].image, output / "images/bzImage")
    # The kernel has no symbols of its own: they are in the tree that Buildroot built it in.
    shutil.copyfile(parts[0].config, write(output / "build/linux-6.12/.config"))
    shutil.copyfile(parts[0].vmlinux, output / "build/linux-6.12/vmlinux")
    shutil.copyfile(parts[1], output / "images/rootfs.cpio.gz")
    write(output / "images/start-qemu.sh", START)
    assert run(["try", str(output), HELPS, "--json", "--runs", str(runs)]) == 0
    trial = json.loads(capsys.readouterr().out)
    assert trial["final"]["with risks"]["techniques"] == [HELPS]
    assert run(["apply", "last", "--stack", "with-risks", "--to", str(changes), "--runs", str(runs)]) == 0
    assert "BR2_ROOTFS_POST_IMAGE_SCRIPT" in (changes / "buildroot/bootlab.config").read_text()
    assert not (changes / "root").exists()
    env = {**os.environ, "BINARIES_DIR": str(output / "images"), "TARGET_DIR": str(tmp_path / "target")}
    subprocess.run([changes / "buildroot/add-words.sh", output / "images"], env=env, check=True, capture_output=True)
    found = boot_again(output, runs, capsys)
    marks = found["marks"]
    assert isinstance(marks, dict)
    assert marks["ready"] == trial["final"]["with risks"]["ready_ns"] < trial["baseline"]["ready_ns"]


def as_built(system: str, check: str) -> str:
    """Return a written system file with the lines in place that build its kernel, as docs/outputs.md has it."""
    body, commented = system.split("# The kernel above is as it was built.", 1)
    lines = [line.removeprefix("#").removeprefix(" ") for line in commented.splitlines()[2:]]
    return re.sub(r"\[kernel\]\n.*?\n\n", "", body, flags=re.DOTALL) + "\n".join(lines) + f"\n{check}\n"


def test_a_buildroot_folders_kernel_is_tailored_and_its_options_go_back_as_a_fragment(
    shop: Workshop, parts: tuple[BuiltKernel, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, runs, changes, mine = (tmp_path / name for name in ("output", "runs", "changes", "mine.toml"))
    buildroot(tmp_path)
    shutil.copyfile(parts[0].image, output / "images/bzImage")
    config = write(output / "build/linux-6.12/.config", parts[0].config.read_text())
    shutil.copyfile(parts[0].vmlinux, output / "build/linux-6.12/vmlinux")
    job = INITTAB + "::once:/bin/busybox sh -c 'busybox sleep 1; echo job done >/dev/console'\n"
    recipe = {"init": write(tmp_path / "init", INIT), "busybox": True}
    files = {"/etc/inittab": write(tmp_path / "inittab", job)}
    root = System.model_validate({**dict(read_system(TINY)), "initramfs": {**recipe, "files": files}})
    shutil.copyfile(build_root_of(shop, root, "initramfs").path, output / "images/rootfs.cpio.gz")
    write(output / "images/start-qemu.sh", START)
    source = packages.fetch(shop, "linux-source-6.12", "trixie", "x86_64", key="kernel.build.package")
    (tmp_path / "dl/linux").mkdir(parents=True)
    (tmp_path / "dl/linux/linux-6.12.tar.xz").symlink_to(source.tree / "usr/src/linux-source-6.12.tar.xz")
    assert run(["boot", str(output), "--write-system", str(mine)]) == 0
    mine.write_text(as_built(mine.read_text(), '[check]\nconsole = "job done"'))
    capsys.readouterr()
    assert run(["tailor", str(mine), "--builds", "2", "--json", "--runs", str(runs)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["options_after"] < found["options_before"] and found["comparison"]["verdict"] == "shorter", found
    assert run(["apply", "last", "--to", str(changes), "--for", "buildroot", "--runs", str(runs)]) == 0
    assert "linux.fragment" in (changes / "buildroot/bootlab.config").read_text()
    text = (changes / "buildroot/linux.fragment").read_text()
    off = re.findall(r"^# CONFIG_(\w+) is not set$", text, re.MULTILINE)
    before, after = read_config(config), read_config(Path(found["config"]))
    assert off and all(before.get(name) == "y" and name not in after for name in off)


@pytest.mark.promise("output folders")
def test_a_yocto_folder_boots_as_its_qemuboot_conf_says(
    parts: tuple[BuiltKernel, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = yocto(tmp_path, root="cpio.gz")
    shutil.copyfile(parts[0].image, folder / YOCTO_KERNEL)
    yocto_source(tmp_path, config=parts[0].config.read_text(), system_map=parts[0].system_map.read_bytes())
    shutil.copyfile(parts[1], folder / f"{YOCTO_IMAGE}.cpio.gz")
    conf = folder / f"{YOCTO_IMAGE}.qemuboot.conf"
    text = conf.read_text().replace("fstype = ext4.zst", "fstype = cpio.gz").replace("-smp 4", "-smp 1")
    conf.write_text(text.replace("Skylake-Client", "max"))
    found = boot_again(tmp_path, tmp_path / "runs", capsys)
    console = (Path(str(found["run"])) / "console.log").read_text()
    assert "root=/dev/ram0 rw debugshell ip=dhcp" in console and " login:" in console
    # It waits at a prompt, which no line feed ends, and sleeps on: what is up to ready ends with the prompt.
    assert run(["profile", str(tmp_path), "--json", "--runs", str(tmp_path / "runs")]) == 0
    (directory,) = (tmp_path / "runs").glob("*-profile/boots/*")
    record = read_record(directory)
    profile, _ = read_recorded(record, directory)
    last = profile.slices[profile.up_to("ready")[-1]]
    assert last.end_ns == record.marks["ready"] < profile.end_ns and last.end_instructions == record.instructions
