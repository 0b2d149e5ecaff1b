"""The riscv64 board: SPL, OpenSBI and U-Boot proper from source, and a kernel that U-Boot reads from a flash chip."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build import boot_files
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.series import are_identical
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques
from bootlab.techniques.model.evidence import Measured
from bootlab.timeline import marks as m

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

EXAMPLE = Path(__file__).parents[3] / "examples" / "riscv-board.toml"
NOTHING = Measured(facts={}, initcalls_ns={}, marks={}, console="")
ODD = r"""a="b c" d='e' f=$g;h i=j\k l=m\\'n"""
"""Words for a command line that a shell would not leave as they are."""


@pytest.fixture(scope="module")
def quick() -> System:
    """The example without what U-Boot waits and looks for."""
    system = read_system(EXAMPLE)
    for technique in require_techniques(load_catalogue(), ("bootloader_no_delay", "bootloader_no_scan")):
        assert technique.change.applies(system, NOTHING) is None
        system = technique.change.apply(system, NOTHING)
    return system


def console(record: BootRecord) -> bytes:
    return (Path(record.run) / "console.log").read_bytes()


def test_three_boots_are_one_through_every_stage(run_boot: Callable[[System], BootRecord], quick: System) -> None:
    records = [run_boot(quick.with_cmdline(ODD)) for _ in range(3)]
    for record in records:
        assert record.outcome is Outcome.READY, record.detail
    assert are_identical(records) and len({record.key for record in records}) == 1
    assert len({console(record) for record in records}) == 1
    first = records[0]
    stages = [m.SPL_ENTRY, m.OPENSBI_ENTRY, m.UBOOT_ENTRY, m.KERNEL_LOAD, m.KERNEL_JUMP, m.IMAGE_ENTRY, m.KERNEL_ENTRY]
    times = [first.marks[name] for name in stages]
    assert times == sorted(times)
    names = [phase.name for phase in first.phases]
    assert names[:5] == ["boot ROM", "SPL", "OpenSBI", "U-Boot", "kernel load"] and names[-1] == "user space"
    assert sum(phase.duration_ns for phase in first.phases) == first.ready_ns
    said = console(first)
    assert said.index(b"U-Boot SPL 2025.01") < said.index(b"\nU-Boot 2025.01") < said.index(b"Linux version 6.12")
    assert f"Kernel command line: console=ttyS0 panic=-1 {ODD}".encode() in said


def test_in_falcon_mode_three_boots_are_one_without_uboot_proper(
    run_boot: Callable[[System], BootRecord], quick: System
) -> None:
    falcon = require_techniques(load_catalogue(), ("bootloader_falcon",))[0]
    system = falcon.change.apply(quick, NOTHING).with_cmdline(ODD)
    records = [run_boot(system) for _ in range(3)]
    for record in records:
        assert record.outcome is Outcome.READY, record.detail
    assert are_identical(records) and len({console(record) for record in records}) == 1
    first, usual = records[0], run_boot(quick)
    assert m.UBOOT_ENTRY not in first.marks and first.marks[m.SPL_ENTRY] < first.marks[m.OPENSBI_ENTRY]
    names = [phase.name for phase in first.phases]
    assert names[:3] == ["boot ROM", "SPL", "OpenSBI"] and names[-1] == "user space"
    assert first.ready_ns is not None and usual.ready_ns is not None and first.ready_ns < usual.ready_ns
    # The tree is the machine's, with our words laid over it, and other random numbers by another seed.
    assert f"Kernel command line: console=ttyS0 panic=-1 {ODD}".encode() in console(first)
    assert run_boot(system.model_copy(update={"seed": 2})).marks != first.marks


def test_uboot_unpacks_the_kernel_where_it_is_entered(run_boot: Callable[[System], BootRecord], quick: System) -> None:
    plain, packed = run_boot(quick), run_boot(quick.with_part("flash", compression="gzip"))
    assert packed.outcome is Outcome.READY, packed.detail
    spans = [record.marks[m.IMAGE_ENTRY] - record.marks[m.KERNEL_LOAD] for record in (plain, packed)]
    assert spans[1] > spans[0], "unpacking is work, and reading the chip takes no time"
    assert plain.hashes["kernel"] == packed.hashes["kernel"]


def test_the_bootloaders_date_is_fixed(shop: Workshop, quick: System) -> None:
    built = boot_files.build_bootloader_of(shop, quick)
    date = subprocess.run(["fdtget", built.image, "/", "timestamp"], capture_output=True, check=True).stdout
    assert date == b"0\n"
    assert built.opensbi is not None
    # It is packed as it is, and SPL enters its first byte.
    assert built.opensbi.read_bytes() in built.image.read_bytes()


def test_a_chip_without_a_kernel_leaves_uboot_at_its_prompt(
    run_boot: Callable[[System], BootRecord], quick: System, shop: Workshop, tmp_path: Path
) -> None:
    composed = boot_files.prepare(shop, quick).flash
    assert composed is not None and quick.board is not None and quick.board.flash is not None
    data = bytearray(composed.read_bytes())
    at = quick.board.flash.kernel_at
    data[at : at + 4096] = bytes(4096)
    chip = tmp_path / "flash.img"
    chip.write_bytes(data)
    record = run_boot(quick.with_part("flash", path=chip).with_part("booted", deadline_s=10.0))
    assert record.outcome is not Outcome.READY
    assert "U-Boot proper ran and never started the kernel" in record.detail
    assert b"Bad Linux RISCV Image magic!" in console(record)


def test_an_empty_chip_is_told_without_waiting(
    run_boot: Callable[[System], BootRecord], quick: System, tmp_path: Path
) -> None:
    chip = tmp_path / "flash.img"
    chip.touch()
    os.truncate(chip, 32 << 20)
    record = run_boot(quick.with_part("flash", path=chip).with_part("booted", deadline_s=100.0))
    assert record.outcome is Outcome.HUNG and record.wall_s < 60
    assert record.detail.startswith("the bootloader gave up; last console line")
    assert "SPL ran and started nothing: is a bootloader where SPL looks for it in flash.path" in record.detail


def test_a_chip_with_another_kernel_says_so(
    run_boot: Callable[[System], BootRecord], quick: System, shop: Workshop, tmp_path: Path
) -> None:
    composed = prepare(shop, quick)
    assert composed.files.flash is not None and composed.symbols is not None
    finished = quick.with_part("flash", path=composed.files.flash)
    assert run_boot(finished).remarks == []
    data = bytearray(composed.files.flash.read_bytes())
    entry, start = (composed.symbols.address(name) for name in ("_start_kernel", "_start"))
    assert entry is not None and start is not None and quick.board is not None and quick.board.flash is not None
    at = quick.board.flash.kernel_at + entry - start
    assert data[at : at + 4] == bytes.fromhex("73104010"), "csrw sie, zero: interrupts off, as they are"
    data[at : at + 4] = bytes.fromhex("13000000")
    chip = tmp_path / "flash.img"
    chip.write_bytes(data)
    record = run_boot(quick.with_part("flash", path=chip))
    assert record.outcome is Outcome.READY, record.detail
    (remark,) = record.remarks
    assert remark.startswith("flash.path: the kernel of [kernel] was not seen to run")


def test_an_own_opensbi_may_be_named_from_where_one_stands(
    quick: System, shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = boot_files.build_bootloader_of(shop, quick)
    assert packed.opensbi is not None
    # Never built before, and not kept.
    own = packed.opensbi.read_bytes() + os.urandom(8)
    (tmp_path / "own.bin").write_bytes(own)
    monkeypatch.chdir(tmp_path)
    system = quick.with_part("bootloader", opensbi=Path("own.bin"))
    built = boot_files.build_bootloader_of(shop, system)
    assert own in built.image.read_bytes()
    shutil.rmtree(built.image.parent)


def test_spls_option_for_linux_is_not_asked_for_beside_uboot_proper(quick: System, shop: Workshop) -> None:
    assert quick.bootloader is not None
    options = {**quick.bootloader.options, "SPL_LOAD_FIT_OPENSBI_OS_BOOT": "y"}
    with pytest.raises(InputError, match="SPL_LOAD_FIT_OPENSBI_OS_BOOT is on, and with it U-Boot proper is not packed"):
        boot_files.build_bootloader_of(shop, quick.with_part("bootloader", options=options))
