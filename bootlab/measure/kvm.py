"""Does KVM run guests here? Asked of a real guest, because on some hosts /dev/kvm opens and guests then hang.

The guest is a 64 KiB firmware image. On x86-64 it enters long mode, touches 30 MiB of memory and writes one byte to
QEMU's isa-debug-exit port (guest/kvm_probe_x86_64.S: hosts exist where real mode runs and paging hangs); on arm64 it
calls PSCI SYSTEM_OFF. Anything but that end within two seconds is a no.
"""

import os
import platform
import shutil
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bootlab.build import guest
from bootlab.build.cache import Cache

PROBE_DEADLINE_S = 2.0
_EXIT_BYTE = 0x2A
# isa-debug-exit ends QEMU with (value << 1) | 1.
_EXIT_CODE = (_EXIT_BYTE << 1) | 1


@dataclass(frozen=True, slots=True)
class KvmProbe:
    """Whether KVM works, and a sentence for a reader that says how it was found out."""

    works: bool
    reason: str


def probe_kvm(cpu: str, cache: Cache, device: Path = Path("/dev/kvm")) -> KvmProbe:
    """Return whether a KVM guest with this CPU model runs and ends on this host within two seconds."""
    if not device.exists():
        return KvmProbe(False, f"{device} does not exist")
    if not os.access(device, os.R_OK | os.W_OK):
        return KvmProbe(False, f"{device} is not readable and writable by this user")
    return probe_accelerator("kvm", platform.machine(), cpu, cache)


def probe_accelerator(accelerator: str, machine: str, cpu: str, cache: Cache) -> KvmProbe:
    """Return whether the tiny guest runs and ends under `accelerator`; `machine` as platform.machine() names it."""
    if machine not in ("x86_64", "aarch64"):
        return KvmProbe(False, f"no probe guest for {machine}")
    binary = f"qemu-system-{machine}"
    if shutil.which(binary) is None:
        return KvmProbe(False, f"{binary} is not installed")
    with tempfile.TemporaryDirectory(prefix="bootlab-") as folder:
        image = Path(folder) / "probe.bin"
        image.write_bytes(_x86_image(cache) if machine == "x86_64" else _arm64_image())
        argv = [binary, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-accel", accelerator]
        if machine == "x86_64":
            argv += ["-machine", "pc", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x1"]
            wanted = _EXIT_CODE
        else:
            argv += ["-machine", "virt"]
            wanted = 0
        argv += ["-cpu", cpu, "-m", "64", "-bios", str(image)]
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_DEADLINE_S, check=False
            )
        except subprocess.TimeoutExpired:
            return KvmProbe(False, f"the probe guest did not end within {PROBE_DEADLINE_S:.0f} s")
    if done.returncode == wanted:
        return KvmProbe(True, "a probe guest ran and ended")
    message = done.stderr.decode(errors="replace").strip().splitlines()
    return KvmProbe(
        False, f"the probe guest ended with exit code {done.returncode}" + (f": {message[-1]}" if message else "")
    )


def _x86_image(cache: Cache) -> bytes:
    return guest.assemble_flat("kvm_probe_x86_64.S", cache).read_bytes()


def _arm64_image() -> bytes:
    # movz w0, #0x8400, lsl #16; movk w0, #8 (PSCI SYSTEM_OFF, Arm DEN0022); hvc #0; wfi; b -4
    words = (0x52B08000, 0x72800100, 0xD4000002, 0xD503207F, 0x17FFFFFF)
    return struct.pack("<5I", *words).ljust(65536, b"\0")
