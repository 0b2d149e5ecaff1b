"""Does KVM run guests here? Asked of a real guest, because on some hosts /dev/kvm opens and guests then hang or crawl.

The guest is a 64 KiB firmware image that says one byte on its console: on x86-64 after it entered long mode, touched
30 MiB of memory and counted to twenty million (guest/kvm_probe_x86_64.S says why), on arm64 at once. Anything but that
byte within five seconds of power-on is a no; how long QEMU itself took to start does not count.
"""

import asyncio
import os
import platform
import struct
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from bootlab.errors import BootFailed, MissingTool
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.session import QemuSession
from bootlab.targets.target import ConsoleBytes, Ended

PROBE_DEADLINE_S = 5.0
_ANSWER = b"K"


@dataclass(frozen=True, slots=True)
class KvmProbe:
    """Whether KVM works, and a sentence for a reader that says how it was found out."""

    works: bool
    reason: str


def probe_kvm(cpu: str, cache: Cache, device: Path = Path("/dev/kvm")) -> KvmProbe:
    """Return whether a KVM guest with this CPU model runs on this host, and does its work within five seconds."""
    if not device.exists():
        return KvmProbe(False, f"{device} does not exist")
    if not os.access(device, os.R_OK | os.W_OK):
        return KvmProbe(False, f"{device} is not readable and writable by this user")
    return probe_accelerator("kvm", platform.machine(), cpu, cache)


def probe_accelerator(accelerator: str, machine: str, cpu: str, cache: Cache) -> KvmProbe:
    """Return whether the tiny guest does its work under `accelerator`; `machine` as platform.machine() names it."""
    if machine not in ("x86_64", "aarch64"):
        return KvmProbe(False, f"no probe guest for {machine}")
    with make_socket_folder() as folder:
        image = folder / "probe.bin"
        image.write_bytes(_x86_image(cache) if machine == "x86_64" else _arm64_image())
        argv = [f"qemu-system-{machine}", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-S"]
        argv += ["-accel", accelerator, "-machine", "pc" if machine == "x86_64" else "virt", "-cpu", cpu, "-m", "64"]
        argv += ["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"]
        argv += ["-qmp", f"unix:{folder / 'qmp'},server=on,wait=off", "-bios", str(image)]
        try:
            return asyncio.run(_ask(QemuSession(argv, folder / "qmp", stderr=folder / "stderr")))
        except (BootFailed, MissingTool) as error:
            return KvmProbe(False, error.message)


async def _ask(session: QemuSession) -> KvmProbe:
    async with session:
        await session.power_on()
        try:
            async with asyncio.timeout(PROBE_DEADLINE_S):
                async for event in session.events():
                    if isinstance(event, Ended):
                        return KvmProbe(False, f"the probe guest ended early: {event.detail or event.reason.value}")
                    if isinstance(event, ConsoleBytes) and _ANSWER in event.data:
                        break
        except TimeoutError:
            return KvmProbe(
                False, f"the probe guest hangs or crawls: its work was not done within {PROBE_DEADLINE_S:.0f} s"
            )
    return KvmProbe(True, "a probe guest ran and did its work")


def _x86_image(cache: Cache) -> bytes:
    return guest.assemble_flat("kvm_probe_x86_64.S", cache).read_bytes()


def _arm64_image() -> bytes:
    # movz x1, #0x900, lsl #16 (virt's PL011); movz w2, #'K'; str w2, [x1]; wfi; b -4
    words = (0xD2A12001, 0x52800962, 0xB9000022, 0xD503207F, 0x17FFFFFF)
    return struct.pack("<5I", *words).ljust(65536, b"\0")
