"""Systems and evidence that the tests of techniques share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.system import (
    Booted,
    Bootloader,
    Card,
    Disk,
    Flash,
    Initramfs,
    Kernel,
    KernelBuild,
    Machine,
    MachineType,
    Network,
    System,
    read_system,
)
from bootlab.techniques.model.evidence import Evidence, Measured

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LOG = (
    "Linux version 6.1.0 (debian-kernel@lists.debian.org)",
    "tsc: PIT calibration matches HPET. 1 loops",
    "tsc: Detected 999.993 MHz processor",
    "RAMDISK: [mem 0x0feb3000-0x0ffcffff]",
    "..TIMER: vector=0x30 apic1=0 pin1=2 apic2=-1 pin2=-1",
    "Calibrating delay loop... 1999.98 BogoMIPS (lpj=3999972)",
)


@pytest.fixture
def system() -> System:
    """A q35 PC with a disk, a network card and an initramfs recipe, one vCPU."""
    return System(
        name="pc",
        machine=Machine(type=MachineType.Q35, memory_mib=256),
        kernel=Kernel(package="linux-image-cloud-amd64", cmdline="console=ttyS0"),
        initramfs=Initramfs(
            init=Path("init"),
            files={"/sbin/init-direct": Path("program")},
            modules=("virtio_pci", "virtio_mmio", "virtio_blk", "nvme"),
        ),
        disks=(Disk(size_mib=16),),
        network=Network(guest_port=7777),
        booted=Booted(mark="ready"),
    )


@pytest.fixture
def built() -> System:
    """A microVM without disks whose kernel is built from source, one vCPU."""
    return System(
        name="built",
        machine=Machine(type=MachineType.MICROVM, memory_mib=128, options={"acpi": "off"}),
        kernel=Kernel(build=KernelBuild(source=Path("linux")), cmdline="console=ttyS0"),
        booted=Booted(mark="ready"),
    )


@pytest.fixture
def camera() -> System:
    """The camera board, which builds its application, its kernel and its bootloader from source."""
    return read_system(EXAMPLES / "camera-board.toml")


@pytest.fixture
def board() -> System:
    """A board with a card whose bootloader and kernel are built from source."""
    return System(
        name="board",
        machine=Machine(type=MachineType.ORANGEPI_PC),
        kernel=Kernel(build=KernelBuild(package="linux-source-6.12")),
        bootloader=Bootloader(package="u-boot", suite="trixie"),
        card=Card(),
        initramfs=Initramfs(init=Path("init"), embedded=True),
        booted=Booted(mark="ready"),
    )


@pytest.fixture
def riscv_board() -> System:
    """A board with a flash chip whose bootloader and kernel are built from source."""
    return System(
        name="riscv-board",
        machine=Machine(type=MachineType.VIRT, architecture="riscv64"),
        kernel=Kernel(build=KernelBuild(package="linux-source-6.12")),
        bootloader=Bootloader(package="u-boot", suite="trixie"),
        flash=Flash(),
        booted=Booted(mark="ready"),
    )


@pytest.fixture
def measured() -> Measured:
    """What a baseline boot of that system found."""
    return Measured(_facts(*LOG, modules_used="virtio_pci virtio_blk"), {"ksm_init": 8, "cmos_init": 9}, {}, "")


@pytest.fixture
def evidence() -> Callable[..., Evidence]:
    """Makes evidence with a kernel log, facts, and the watched functions that ran."""
    return _evidence


@pytest.fixture
def silent_log() -> tuple[str, ...]:
    """A kernel log from its first line on that no technique leaves a trace in."""
    return LOG


def _facts(*log: str, **others: str) -> dict[str, str]:
    # Stamped as a kernel does.
    return {f"dmesg.{number}": f"[    0.{number:06}] {line}" for number, line in enumerate(log, 1)} | others


def _evidence(*log: str, slide: int | None = None, ran: tuple[str, ...] = (), **others: str) -> Evidence:
    return Evidence(_facts(*log, **others), {}, {f"watch:{symbol}": 1 for symbol in ran}, "", slide)
