"""An arm64 boot's exits and pages against what its kernel's own code says of them, and a clock charged for them.

No KVM on arm64 is compared with: the kernel's instructions, its console and its calls are what is known otherwise.
"""

import struct
from pathlib import Path

import numpy as np
import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.findings.analysis import Analysis, analyse
from bootlab.measure.boot import boot
from bootlab.measure.prepare import Prepared, prepare
from bootlab.price.host_model import read_host_model
from bootlab.price.traps import TrapKind
from bootlab.profile.asked.request import ProfileRequest
from bootlab.system import System

INIT = Path(__file__).parents[1] / "machines" / "nested_kvm" / "traced_inner_init"
PLAIN = System.model_validate(
    {
        "name": "priced",
        # With a GICv3, as the guest of a host that has one.
        "machine": {"type": "virt", "cpu": "max", "memory_mib": 256, "options": {"gic-version": "3"}},
        "kernel": {
            "package": "linux-image-cloud-arm64",
            "suite": "bookworm",
            "cmdline": "console=ttyAMA0 panic=-1 cryptomgr.notests",
        },
        "initramfs": {"init": INIT, "compression": "none"},
        "booted": {"mark": "ready"},
    }
)
CHARGED = PLAIN.with_part("clock", host_model="altra")
CPUINFO = "__cpuinfo_store_cpu"
UART, UART_SIZE = 0x9000000, 0x1000

pytestmark = [pytest.mark.boot, pytest.mark.network]


def prepared(system: System, *, traps: bool = True) -> Prepared:
    """Return all that a profiled boot needs."""
    return prepare(Workshop(Cache.default()), system, profile=ProfileRequest(traps=traps))


def profiled(ready: Prepared, folder: Path) -> Analysis:
    """Boot with the profile on, and return what it says."""
    folder.mkdir()
    record = boot(ready, folder, patience=8)
    return analyse(ready.system, record, folder, models=[read_host_model("altra")])


def id_registers(words: tuple[int, ...]) -> list[int]:
    """Return the numbers of the ID registers of group 3 that the code reads: MRS of S3_0_C0_C1_0 to S3_0_C0_C7_7."""
    numbers = [word >> 5 & 0xFFFF for word in words if word & 0xFFE00000 == 0xD5200000]
    return sorted(number for number in numbers if 0xC008 <= number <= 0xC03F)


def test_what_is_counted_is_what_the_kernels_code_did(tmp_path: Path) -> None:
    ready = prepared(PLAIN)
    seen = profiled(ready, tmp_path / "seen")
    profile, price = seen.profile, seen.price
    assert price is not None and price.account.not_counted == 0 and seen.account.closed, seen.account.faults
    function = np.array([profile.names[one] for one in profile.nodes["function"][profile.traps["node"]]])
    kind, number, count = (profile.traps[name] for name in ("kind", "number", "count"))

    # Each ID register that the code of cpuinfo has an MRS of was read once.
    assert ready.symbols is not None
    start = ready.symbols.address(CPUINFO)
    assert start is not None
    end = min(one.address for one in ready.symbols if one.address > start)
    code = ready.symbols.bytes_at(start, (end - start) & -4)
    assert code is not None
    wanted = id_registers(struct.unpack(f"<{len(code) // 4}I", code))
    own = (function == CPUINFO) & (kind == TrapKind.SYSREG_READ) & (number >= 0xC008) & (number <= 0xC03F)
    assert len(wanted) > 20 and sorted(np.repeat(number[own], count[own]).tolist()) == wanted

    # Each byte of the console is a write to the UART's data register, and each access to the UART is for the VMM.
    uart = (number >= UART) & (number < UART + UART_SIZE) & np.isin(kind, [TrapKind.MMIO_READ, TrapKind.MMIO_WRITE])
    data = uart & (number == UART) & (kind == TrapKind.MMIO_WRITE)
    assert count[data].sum() == len((tmp_path / "seen" / "console.log").read_bytes())
    assert set(function[uart]) >= {"pl011_read", "pl011_console_putchar"}
    ready_slices = profile.up_to("ready")
    early = uart & (profile.traps["slice"] < ready_slices.stop)
    assert price.account.by_class["mmio_vmm"] >= count[early].sum() > 1000

    # Flushes ahead of MMU and caches are told from those behind; a GICv3 is asked by registers of memory, then its own.
    assert 5 <= price.account.by_class["sysreg_write"] <= 100 and price.account.by_class["mmio_vgic"] > 20
    assert price.account.by_class["hvc"] >= 2  # PSCI_VERSION, SMCCC_VERSION

    # What the kernel cleared by DC ZVA was touched there: at most once a call, and within the machine's memory.
    clears = np.flatnonzero([profile.names[one] == "clear_page" for one in profile.nodes["function"]])
    calls = sum(int(one.weights["calls"][np.isin(one.weights["node"], clears)].sum()) for one in profile.slices)
    pages = profile.pages
    cleared = np.isin(pages["node"], clears)
    assert 500 < cleared.sum() <= calls
    assert len(set(pages["page"].tolist())) == len(pages)
    inside = (pages["page"] >= 1 << 18) & (pages["page"] < (1 << 18) + (256 << 8))
    assert inside.all() and price.account.chunks.sum() <= 128 and price.account.small.sum() == 0


def test_counting_moves_nothing(tmp_path: Path) -> None:
    """The same boot with and without the count, to the instruction and to the console's last byte."""
    counted, plain = (profiled(prepared(PLAIN, traps=one), tmp_path / str(one)) for one in (True, False))
    assert counted.record.marks == plain.record.marks and counted.record.key == plain.record.key
    assert counted.record.console_sha256 == plain.record.console_sha256
    assert plain.price is None and counted.price is not None and counted.record.charged_ns == 0


@pytest.mark.parametrize("vcpus", [1, 2])
def test_a_charged_boot_repeats_and_adds_up(tmp_path: Path, vcpus: int) -> None:
    ready = prepared(CHARGED.with_part("machine", vcpus=vcpus))
    boots = [profiled(ready, tmp_path / str(number)) for number in range(3 if vcpus == 1 else 2)]
    first = boots[0]
    assert len({(one.directory / "trace.txt").read_text() for one in boots}) == 1
    assert first.price is not None and first.account.closed, first.account.faults
    price, record = first.price.prices[0], first.record
    assert price.charged and record.charged_ns == price.small.exits_ns + price.small.faults_ns
    assert record.ready_ns == (record.instructions or 0) + (record.idle_ns or 0) + record.charged_ns
    assert record.price is not None and record.price.total_ns == price.small.total_ns
    counts = {name: one.count for name, one in record.charges.items()}
    assert counts.pop("fault_4K") == first.price.account.n_pages and counts == first.price.account.by_class
    assert ("sgi" in counts) is (vcpus > 1)
    for other in boots[1:]:
        assert other.price is not None and other.price.account.by_class == first.price.account.by_class
        assert other.price.account.n_pages == first.price.account.n_pages
