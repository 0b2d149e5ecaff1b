"""What is peculiar to QEMU's microvm, or to its firmware: met in real boots, and kept from coming back."""

from pathlib import Path

import pytest

from bootlab.build import boot_files
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.system import System

pytestmark = [pytest.mark.boot, pytest.mark.network]

INIT = Path(__file__).parent / "nested_kvm" / "inner_init"
PAGE = 4096


def microvm(clock: str, cmdline: str, files: dict[str, Path], **machine: object) -> System:
    """Return a microvm whose guest checks its disk and its network."""
    return System.model_validate(
        {
            "name": "microvm",
            "machine": {"type": "microvm", "memory_mib": 128, "options": {"pic": "off"}, **machine},
            "clock": {"kind": clock, "accelerator": "tcg" if clock == "wall" else "auto"},
            "kernel": {
                "package": "linux-image-cloud-amd64",
                "suite": "bookworm",
                "entry": "pvh",
                "cmdline": f"console=ttyS0 panic=-1 cryptomgr.notests {cmdline}",
            },
            "initramfs": {
                "init": INIT,
                "modules": ["virtio_mmio", "virtio_blk", "virtio_net", "ext4"],
                "files": files,
                "compression": "none",
            },
            "disks": [{"size_mib": 4}],
            "network": {"guest_port": 7777},
            "booted": {"mark": "ready", "deadline_s": 60},
            "check": {"console": "bootlab: check ok", "send": "ping", "expect": "^pong"},
        }
    )


@pytest.mark.promise("machine microvm")
def test_an_initramfs_does_not_overwrite_the_tables_above_it(shop: Workshop, tmp_path: Path) -> None:
    """QEMU lays the end of a PVH kernel's initramfs into the last page of memory, where microvm's ACPI tables are."""
    filler = tmp_path / "filler"
    filler.write_bytes(b"")
    # q35 has no such problem, so its archive is the recipe's as it is.
    recipe = microvm("virtual", "", {"/filler": filler})
    plain = boot_files.prepare(shop, recipe.with_part("machine", type="q35")).initramfs
    assert plain is not None
    filler.write_bytes(bytes(-(plain.stat().st_size + 4) % PAGE))
    system = microvm("virtual", "", {"/filler": filler})
    worst = boot_files.prepare(shop, system.with_part("machine", type="q35")).initramfs
    assert worst is not None and worst.stat().st_size % PAGE == PAGE - 4
    (tmp_path / "boot").mkdir()
    record = boot(prepare(shop, system), tmp_path / "boot")
    assert record.outcome is Outcome.READY, record.detail


def test_an_unexpected_interrupt_is_explained(shop: Workshop, tmp_path: Path) -> None:
    record = boot(prepare(shop, microvm("virtual", "", {}, options={})), tmp_path)
    assert record.outcome is Outcome.PANICKED
    assert 'machine.options = { pic = "off" }' in record.detail


def test_a_hang_without_interrupts_is_explained(shop: Workshop, tmp_path: Path) -> None:
    system = microvm("wall", "acpi=off", {}, firmware="qboot", options={}).with_part("booted", deadline_s=15)
    record = boot(prepare(shop, system), tmp_path)
    assert record.outcome is Outcome.HUNG
    assert "leave out acpi=off, or qboot" in record.detail
