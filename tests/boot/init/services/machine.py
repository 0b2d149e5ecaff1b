"""Boots the root of `roots` with systemd or with bootlab-init, and returns what each program said of itself."""

import shutil
import subprocess
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.debian.packages import fetch_all
from bootlab.build.programs import guest
from bootlab.build.programs.static_program import compile_static
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.system import read_system
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.wiring import Wiring
from bootlab.targets.target import Prepared
from tests.boot.conftest import EXAMPLES
from tests.boot.init.services.roots import add_systemd

RECORDER = Path(__file__).parent / "recorder.c"
SUITE, ARCH = "bookworm", "x86_64"
_CMDLINE = "console=ttyS0 panic=-1 edd=off quiet cryptomgr.notests rdinit=/records/first"
_DEADLINE_S = 3600
LIBRARIES = (
    "libacl1 libapparmor1 libaudit1 libblkid1 libc6 libcap-ng0 libcap2 libcrypt1 libgcrypt20 libgpg-error0 libip4tc2 "
    "libkmod2 liblz4-1 liblzma5 libmount1 libpam0g libpcre2-8-0 libseccomp2 libselinux1 libssl3 libsystemd-shared "
    "libsystemd0 libzstd1"
).split()
"""What systemd's programs are linked with, and what that is linked with."""


def prepare_machine(root: Path, cache: Cache) -> Prepared:
    """Return the machine whose initramfs is `root`, with systemd, bootlab-init and the recorder added to it."""
    shop = Workshop(cache)
    systemd, *libraries = fetch_all(shop, ["systemd", *LIBRARIES], SUITE, ARCH)
    add_systemd([systemd, *libraries], root)
    recorder = compile_static(RECORDER, ARCH, cache)
    programs = {name.lstrip("/"): path for name, path in guest.compile_runtime(ARCH, cache).items()}
    for name, path in {
        **programs,
        "records/first": recorder,
        "records/recorder": recorder,
        "records/bootlab-ctl": programs["sbin/bootlab-ctl"],
        "records/systemctl": systemd.tree / "bin/systemctl",
    }.items():
        shutil.copy(path, root / name)
        (root / name).chmod(0o755)
    system = read_system(EXAMPLES / "debian-cloud.toml")
    system = system.model_copy(update={"check": None, "network": None, "disks": ()})
    system = system.with_part("machine", memory_mib=1024)
    system = system.with_part("kernel", cmdline=_CMDLINE)
    files = {"/records/first": recorder}
    system = system.with_part("initramfs", init=None, directory=root, busybox=False, files=files, modules=())
    return prepare(shop, system)


def boot(prepared: Prepared, which: str, folder: Path) -> tuple[str, str]:
    """Boot it to its end with the process 1 of that name; return its console, and what the recorder wrote."""
    console, records = folder / f"{which}.console", folder / f"{which}.records"
    argv = [word for word in qemu_argv(prepared.system, prepared.files, Wiring(folder / "qmp")) if word != "-S"]
    at = argv.index("-chardev")
    del argv[at : at + 2]
    argv[argv.index("chardev:console")] = f"file:{console}"
    at = argv.index("-qmp")
    argv[at : at + 2] = ["-serial", f"file:{records}"]
    argv[argv.index("-append") + 1] += f" comparing={which}"
    subprocess.run(argv, check=True, timeout=_DEADLINE_S, stdin=subprocess.DEVNULL)
    return console.read_text(errors="replace"), records.read_text(errors="replace")
