"""bootlab-init for each architecture: small and static; as process 1 of armv7 and riscv64. arm64: test_dhcp.py."""

import asyncio
import platform
import re
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from bootlab.build.cache import Cache
from bootlab.build.debian.packages import fetch
from bootlab.build.formats import cpio
from bootlab.build.programs import guest
from bootlab.build.workshop import Workshop
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.target import EndReason
from tests.boot.init.guest_console import watch

pytestmark = [pytest.mark.boot]

MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64", "armv7": "EM_ARM", "riscv64": "EM_RISCV"}
# Of 1,000 bytes. Other instruction sets take more for the same.
MOST_BYTES = {"x86_64": 180_000}
MOST_BYTES_ELSEWHERE = 200_000
FILES = {
    "etc/bootlab/init.conf": "lsb no\nhostname guest\n",
    "etc/bootlab/units/status.unit": "exec /sbin/bootlab-ctl status\nready exit\noutput console\n",
    "etc/bootlab/units/off.unit": "exec /sbin/bootlab-ctl poweroff\nafter status\n",
}
DEADLINE_S = 280


@dataclass(frozen=True)
class Guest:
    """Debian's kernel for an architecture, and what it runs on."""

    kernel: str
    suite: str
    qemu: str
    cpu: str
    console: str


GUESTS = {
    "armv7": Guest("linux-image-armmp", "bookworm", "qemu-system-arm", "cortex-a15", "ttyAMA0"),
    "riscv64": Guest("linux-image-riscv64", "trixie", "qemu-system-riscv64", "max", "ttyS0"),
}


@pytest.mark.parametrize(
    "arch",
    # For each of the others zig compiles its C library first, which takes 45 s.
    [pytest.param("x86_64", marks=pytest.mark.promise("guest programs")), "aarch64", "armv7", "riscv64"],
)
def test_the_programs_are_static_and_small(arch: str, cache: Cache) -> None:
    for path, program in guest.compile_runtime(arch, cache).items():
        with program.open("rb") as file:
            elf = ELFFile(file)
            assert elf["e_machine"] == MACHINES[arch]
            assert [part["p_type"] for part in elf.iter_segments() if part["p_type"] == "PT_INTERP"] == []
        print(f"{arch} {path}: {program.stat().st_size:,} bytes")
        assert program.stat().st_size < MOST_BYTES.get(arch, MOST_BYTES_ELSEWHERE)


@pytest.mark.network
@pytest.mark.skipif(platform.machine() != "x86_64", reason="its programs come from zig, on the host that CI has")
@pytest.mark.parametrize("arch", GUESTS)
def test_it_starts_units_and_powers_off(arch: str, tmp_path: Path, cache: Cache) -> None:
    has = GUESTS[arch]
    (kernel,) = fetch(Workshop(cache), has.kernel, has.suite, arch).tree.glob("boot/vmlinu[xz]-*")
    programs = {path.lstrip("/"): file.read_bytes() for path, file in guest.compile_runtime(arch, cache).items()}
    files = {**{name: text.encode() for name, text in FILES.items()}, **programs, "init": programs["sbin/bootlab-init"]}
    folders = {str(parent) for name in files for parent in Path(name).parents} - {"."} | {"dev", "proc", "sys", "run"}
    entries = [cpio.Entry(name, stat.S_IFDIR | 0o755) for name in folders]
    entries += [cpio.Entry(name, stat.S_IFREG | 0o755, data) for name, data in files.items()]
    (tmp_path / "initrd").write_bytes(cpio.write(sorted(entries, key=cpio.path_order)))
    with make_socket_folder() as sockets:
        argv = [has.qemu, "-M", "virt", "-cpu", has.cpu, "-m", "256", "-nodefaults", "-display", "none"]
        argv += ["-no-reboot", "-S", "-icount", "shift=0,sleep=off", "-kernel", str(kernel)]
        argv += ["-initrd", str(tmp_path / "initrd"), "-append", f"console={has.console} panic=-1 cryptomgr.notests"]
        argv += ["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"]
        argv += ["-qmp", f"unix:{sockets / 'qmp'},server=on,wait=off"]
        watching = watch(argv, sockets / "qmp", tmp_path / "stderr")
        console, reason = asyncio.run(asyncio.wait_for(watching, DEADLINE_S))
    assert re.search(r"^hostname +up", console, re.M), console[-2000:]
    assert reason is EndReason.GUEST_SHUTDOWN, console[-2000:]
