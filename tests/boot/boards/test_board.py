"""The board: SPL really read from an SD card, U-Boot from source, Falcon mode, and what can be wrong with them."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build import boot_files
from bootlab.build.workshop import Workshop
from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.experiments.series import are_identical
from bootlab.findings.technique_evidence import evidence_of
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques
from bootlab.techniques.model.evidence import Effect, Measured
from bootlab.timeline import marks as m

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

EXAMPLE = Path(__file__).parents[3] / "examples" / "board.toml"
NOTHING = Measured(facts={}, initcalls_ns={}, marks={}, console="")


def with_techniques(system: System, *names: str) -> System:
    for technique in require_techniques(load_catalogue(), names):
        assert technique.change.applies(system, NOTHING) is None
        system = technique.change.apply(system, NOTHING)
    return system


@pytest.fixture(scope="module")
def standard() -> System:
    """The example: U-Boot without what takes it 13 s by default."""
    return read_system(EXAMPLE)


@pytest.fixture(scope="module")
def falcon(standard: System) -> System:
    return with_techniques(standard, "bootloader_falcon")


def console(record: BootRecord) -> bytes:
    return (Path(record.run) / "console.log").read_bytes()


def test_the_example_has_what_two_techniques_would_set(standard: System) -> None:
    stock = standard.with_part("bootloader", options={})
    changed = with_techniques(stock, "bootloader_no_delay", "bootloader_no_scan")
    assert changed.bootloader is not None and standard.bootloader is not None
    assert changed.bootloader.options == standard.bootloader.options


def test_three_boots_of_the_board_are_one(run_boot: Callable[[System], BootRecord], falcon: System) -> None:
    records = [run_boot(falcon) for _ in range(3)]
    for record in records:
        assert record.outcome is Outcome.READY, record.detail
    assert are_identical(records) and len({record.key for record in records}) == 1
    assert len({console(record) for record in records}) == 1


@pytest.mark.promise("machine orangepi-pc")
def test_falcon_mode_starts_the_same_kernel_without_uboot_proper(
    run_boot: Callable[[System], BootRecord], standard: System, falcon: System
) -> None:
    before, after = run_boot(standard), run_boot(falcon)
    for record in (before, after):
        assert record.outcome is Outcome.READY, record.detail
        assert [phase.name for phase in record.phases][-1] == "user space"
        assert sum(phase.duration_ns for phase in record.phases) == record.ready_ns
    assert before.hashes["kernel"] == after.hashes["kernel"]
    order = [m.SPL_ENTRY, m.UBOOT_ENTRY, m.KERNEL_LOAD, m.KERNEL_JUMP, m.IMAGE_ENTRY, m.KERNEL_ENTRY, m.START_KERNEL]
    assert [name for name in before.marks if name in order] == order
    # Proved from the trace: not one instruction at U-Boot proper's entry.
    assert [name for name in after.marks if name in order] == [name for name in order if name != m.UBOOT_ENTRY]
    for record in (before, after):
        read = {phase.name: phase.read_bytes or 0 for phase in record.phases}
        assert record.sizes["kernel"] <= read["kernel load"] < 1.1 * record.sizes["kernel"]
        assert read["boot ROM"] == read["initcalls"] == read["user space"] == 0
    # U-Boot proper, which in Falcon mode is not read at all.
    read_by_spl = [
        next(phase.read_bytes for phase in one.phases if phase.name == "SPL") or 0 for one in (before, after)
    ]
    assert read_by_spl[0] > 300_000 > 4_096 > read_by_spl[1]
    assert b"U-Boot 2025.01" in console(before) and b"\nU-Boot 2025.01" not in console(after)
    assert [phase.name for phase in before.phases[:4]] == ["boot ROM", "SPL", "U-Boot", "kernel load"]
    assert [phase.name for phase in after.phases[:3]] == ["boot ROM", "SPL", "kernel load"]
    assert before.ready_ns is not None and after.ready_ns is not None
    assert before.ready_ns - after.ready_ns > 50_000_000
    # From the same kernel's entry on there is nothing of the bootloader left to differ by.
    spans = [record.marks[m.KERNEL_ENTRY] - record.marks[m.IMAGE_ENTRY] for record in (before, after)]
    assert abs(spans[0] - spans[1]) * 50 < spans[0]


@pytest.mark.parametrize("mode", ["standard", "falcon"])
def test_a_kernel_finds_the_device_tree_behind_itself(
    run_boot: Callable[[System], BootRecord], mode: str, request: pytest.FixtureRequest
) -> None:
    separate: System = request.getfixturevalue(mode)
    before, after = run_boot(separate), run_boot(with_techniques(separate, "kernel_appended_dtb"))
    for record in (before, after):
        assert record.outcome is Outcome.READY, record.detail
        assert b"OF: fdt: Machine model: Xunlong Orange Pi PC" in console(record)
        assert b"Kernel command line: console=ttyS0,115200 panic=-1" in console(record)
    assert (
        require_techniques(load_catalogue(), ["kernel_appended_dtb"])[0].proof.prove(
            evidence_of(after), evidence_of(before)
        )
        is Effect.PROVEN
    )
    handed = b"## Flattened Device Tree blob at"
    assert (handed in console(before)) == (mode == "standard") and handed not in console(after)
    assert before.ready_ns is not None and after.ready_ns is not None
    assert after.ready_ns < before.ready_ns


@pytest.mark.parametrize("mode", ["standard", "falcon"])
def test_a_kernel_with_a_large_initramfs_inside_starts_either_way(
    run_boot: Callable[[System], BootRecord], standard: System, falcon: System, tmp_path: Path, mode: str
) -> None:
    # It reaches over the place where the device tree else goes: 17 MiB that no compression makes smaller.
    large = tmp_path / "large"
    large.write_bytes(random.Random(7).randbytes(17 << 20))
    system = standard if mode == "standard" else falcon
    record = run_boot(system.with_part("initramfs", files={"/large": large}))
    assert record.outcome is Outcome.READY, record.detail
    assert record.sizes["kernel"] > 17 << 20
    assert (m.UBOOT_ENTRY in record.marks) == (mode == "standard")


def test_a_kernel_that_looks_for_no_tree_is_refused_before_it_is_built(shop: Workshop, standard: System) -> None:
    appended = standard.with_part("card", device_tree="appended")
    with pytest.raises(InputError, match="card.device_tree: .* ARM_APPENDED_DTB and ARM_ATAG_DTB_COMPAT") as error:
        boot_files.prepare(shop, appended)
    assert error.value.hint is not None and "kernel.build.options: ARM_APPENDED_DTB = true" in error.value.hint


def test_a_uboot_that_passes_no_atags_says_for_whom_it_was_to(shop: Workshop, standard: System) -> None:
    assert standard.bootloader is not None
    options = {**standard.bootloader.options, "SUPPORT_PASSING_ATAGS": "n"}
    without = standard.with_part("card", device_tree="appended").with_part("bootloader", options=options)
    with pytest.raises(InputError, match="card.device_tree: CONFIG_INITRD_TAG=y did not survive, it is n"):
        boot_files.build_bootloader_of(shop, without)


def test_missing_args_lead_to_uboot_proper_and_it_is_said(
    run_boot: Callable[[System], BootRecord], falcon: System, shop: Workshop, tmp_path: Path
) -> None:
    composed = boot_files.prepare(shop, falcon).card
    assert composed is not None and falcon.board is not None and falcon.board.card is not None
    card = tmp_path / "card.img"
    data = bytearray(composed.read_bytes())
    layout = falcon.board.card
    data[layout.args_at : layout.args_at + layout.args_size] = bytes(layout.args_size)
    card.write_bytes(data)
    record = run_boot(falcon.with_part("card", path=card))
    assert record.outcome is Outcome.READY, record.detail
    assert m.UBOOT_ENTRY in record.marks
    assert len(record.remarks) == 1 and "U-Boot proper ran: the args are missing" in record.remarks[0]
    names = [phase.name for phase in record.phases]
    assert names[:4] == ["boot ROM", "SPL", "kernel load", "U-Boot"]


@pytest.mark.promise("machine orangepi-pc")
def test_a_blank_card_is_told(run_boot: Callable[[System], BootRecord], standard: System, tmp_path: Path) -> None:
    card = tmp_path / "blank.img"
    card.touch()
    os.truncate(card, 64 << 20)
    record = run_boot(standard.with_part("card", path=card).with_part("booted", deadline_s=10.0))
    assert record.outcome is Outcome.HUNG
    assert "the console said nothing; nothing on the card was seen to run" in record.detail
    assert f"card.path, {card}, at 8,192 bytes" in record.detail


def test_a_kernel_loaded_over_the_bootloader_is_named(run_boot: Callable[[System], BootRecord], falcon: System) -> None:
    # SPL's own data (CONFIG_SPL_BSS_START_ADDR) lies there.
    wrong = falcon.with_part("card", load_address=0x4FF00000).with_part("booted", deadline_s=45.0)
    record = run_boot(wrong)
    assert record.outcome is not Outcome.READY
    assert m.IMAGE_ENTRY not in record.marks
    assert "card.load_address = 0x4ff00000 is memory that the bootloader uses itself" in record.detail


def test_an_spl_that_is_too_large_says_by_how_much(shop: Workshop, standard: System) -> None:
    assert standard.bootloader is not None
    tight = standard.with_part("bootloader", options={**standard.bootloader.options, "SPL_MAX_SIZE": "0x3000"})
    with pytest.raises(InputError, match=r"the SPL is 1\d,\d{3} bytes, and this board loads at most 12,288") as error:
        boot_files.build_bootloader_of(shop, tight)
    assert "SPL_MAX_SIZE" in error.value.message


@pytest.mark.promise("bootlab build bootloader")
def test_the_verb_gives_the_bootloader_that_is_on_the_card(
    standard: System, shop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["build", "bootloader", str(EXAMPLE), "--json", "--output", str(tmp_path / "out")]) == 0
    image = Path(json.loads(capsys.readouterr().out)["image"]).read_bytes()
    card = boot_files.prepare(shop, standard).card
    assert card is not None and standard.board is not None and standard.board.card is not None
    at = standard.board.card.image_at
    assert len(image) > 300_000 and card.read_bytes()[at : at + len(image)] == image


def test_an_option_that_uboot_does_not_grant_says_why(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "bootlab", "build", "bootloader", "--package", "u-boot", "--suite", "trixie"]
    done = subprocess.run([*words, "--set", "USB=n"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--set USB: CONFIG_USB=n did not survive, it is y: is selected by ARCH_SUNXI" in done.stderr
