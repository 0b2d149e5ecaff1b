"""The timing guest, run: under KVM with one kind of page behind its memory, and what it said."""

import asyncio
import platform
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from bootlab.build.cache import Cache
from bootlab.build.programs.guest import make_host_fit
from bootlab.errors import BootFailed, MissingTool
from bootlab.measure.host_fit.samples import Timed, read_timed
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.huge_pages import read_free_pages
from bootlab.targets.qemu.kvm import probe_kvm
from bootlab.targets.qemu.program import probe_qemu_version, require_qemu
from bootlab.targets.qemu.session import QemuSession
from bootlab.targets.target import ConsoleBytes, Ended

MEMORY_MIB: Final = 160
"""The guest touches pages up to 128 MiB."""
DEADLINE_S: Final = 60.0
"""Of one guest, which takes a tenth of a second on hardware."""


class Backing(StrEnum):
    """What is behind a guest's memory."""

    DEFAULT = "what QEMU asks for by itself"
    SMALL = "pages of 4 KiB"
    READY = "pages of 4 KiB that were there already"
    RESERVED = "reserved pages of 2 MiB"


_HUGE_PAGES: Final = MEMORY_MIB // 2
_QEMU: Final = "qemu-system-x86_64"
_MEMORY: Final = "memory-backend-memfd,id=ram,size={mib}M,hugetlb={hugetlb},prealloc={prealloc},merge=off"
_BACKENDS: Final = {
    Backing.SMALL: ("off", "off"),
    Backing.READY: ("off", "on"),
    Backing.RESERVED: ("on", "off"),
}


def backings() -> list[Backing]:
    """Return what this host can back a guest with: reserved huge pages where as many are free."""
    reserved = [Backing.RESERVED] if read_free_pages() >= _HUGE_PAGES else []
    return [Backing.DEFAULT, Backing.SMALL, Backing.READY, *reserved]


def expect_kvm(cache: Cache) -> None:
    """Raise MissingTool where KVM does not work here, with the reason."""
    if (arch := platform.machine()) != "x86_64":
        raise MissingTool(
            f"a host is fitted on x86-64; this one is {arch}", hint="no rules of its exits are proved yet"
        )
    probe = probe_kvm("host", cache)
    if not probe.works:
        raise MissingTool(
            f"a host is fitted under KVM, and KVM does not work here: {probe.reason}",
            hint="bootlab doctor lists what is missing; --price lean, ibrs or nested need no KVM",
        )


def qemu_version() -> str:
    """Return the version of this host's QEMU. Raises MissingTool without one."""
    return probe_qemu_version(require_qemu(_QEMU))


def guest_argv(image: Path, qmp: Path, backing: Backing, accelerator: str = "kvm") -> list[str]:
    """Return QEMU's command line. Its console is the guest's debug port; the guest ends it by another port."""
    argv = [_QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-S"]
    argv += ["-accel", accelerator, "-cpu", "host" if accelerator == "kvm" else "max", "-m", str(MEMORY_MIB)]
    machine = "q35,hpet=on"
    if backing is not Backing.DEFAULT:
        hugetlb, prealloc = _BACKENDS[backing]
        argv += ["-object", _MEMORY.format(mib=MEMORY_MIB, hugetlb=hugetlb, prealloc=prealloc)]
        machine += ",memory-backend=ram"
    argv += ["-machine", machine, "-bios", str(image), "-serial", "null"]
    argv += ["-chardev", "stdio,id=said,signal=off", "-device", "isa-debugcon,iobase=0x402,chardev=said"]
    argv += ["-device", "isa-debug-exit,iobase=0x501", "-qmp", f"unix:{qmp},server=on,wait=off"]
    return argv


def time_guest(cache: Cache, backing: Backing) -> Timed:
    """Run the guest under KVM, and return what it timed. Raises as `hear_guest` and `read_timed` do."""
    return read_timed(hear_guest(cache, backing))


def hear_guest(cache: Cache, backing: Backing, accelerator: str = "kvm", more: Sequence[str] = ()) -> str:
    """Run the guest, and return what it said; `more`: words for QEMU's command line.

    Raises MissingTool without QEMU or what the guest is made with, BootFailed where it does not end by itself.
    """
    require_qemu(_QEMU)
    image = make_host_fit(cache)
    with make_socket_folder() as folder:
        argv = [*guest_argv(image, folder / "qmp", backing, accelerator), *more]
        return asyncio.run(_listen(QemuSession(argv, folder / "qmp", stderr=folder / "stderr")))


async def _listen(session: QemuSession) -> str:
    said = b""
    async with session:
        await session.power_on()
        try:
            async with asyncio.timeout(DEADLINE_S):
                async for event in session.events():
                    if isinstance(event, ConsoleBytes):
                        said += event.data
                    elif isinstance(event, Ended):
                        break
        except TimeoutError as error:
            raise BootFailed(
                f"the timing guest was not done within {DEADLINE_S:.0f} s",
                hint="bootlab doctor says whether KVM works here",
            ) from error
        if not said:
            raise BootFailed(f"the timing guest said nothing: {session.error_text() or 'QEMU gives no reason'}")
    return said.decode("ascii", errors="replace")
