"""What is found before the kernel of a disk image, and in loops of the kernel, in boots that are told here."""

from pathlib import Path

import pytest

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.before_kernel import find_menu, find_work_before_kernel
from bootlab.findings.audit.process_costs import TaskCosts
from bootlab.system import System
from tests.findings.audit.told_boot import SYSTEM, Chain, analysis_of_the_boot

MS = 1_000_000


def image_system(firmware: str, **image: object) -> System:
    return System.model_validate(
        {
            "name": "image",
            "machine": {"type": "q35", "firmware": firmware},
            "image": {"path": Path("disk.img"), **image},
            "booted": {"console": "login:"},
        }
    )


def audited(
    folder: Path, loader_ms: int, menu_s: float | None = None, firmware: str = "ovmf", **image: object
) -> AuditedBoot:
    analysis = analysis_of_the_boot(folder, Chain(loader_ms * MS), image_system(firmware, **image))
    return AuditedBoot(analysis, TaskCosts(analysis), menu_s=menu_s)


@pytest.mark.parametrize(("menu_s", "loader_ms"), [(None, 5000), (0, 5000), (3, 2900)])
def test_no_menu_waits(menu_s: float | None, loader_ms: int, tmp_path: Path) -> None:
    """Or less than is written on the image: its loader was told otherwise."""
    assert find_menu(audited(tmp_path, loader_ms, menu_s)) is None


def test_a_menu_that_waits(tmp_path: Path) -> None:
    found = find_menu(audited(tmp_path, 3600, 3))
    assert found is not None and (found.cost_ns, found.technique) == (3000 * MS, "bootloader_menu_none")
    assert "waits 3 s for a key" in found.what


def test_programs_before_the_kernel(tmp_path: Path) -> None:
    found = find_work_before_kernel(audited(tmp_path, 700))
    assert found is not None
    assert [(one.what, one.cost_ns, one.detail) for one in found.items] == [
        ("GRUB", 700 * MS, "in loader"),
        ("DxeCore", 5 * MS, "in DXE"),
        ("firmware", 2 * MS, "in firmware"),
    ]
    assert found.cost_ns == 707_600_000 and "4 programs ran before the kernel, 3 of them" in found.what
    assert found.technique == "firmware_ovmf_2025" and "bootloader_efi_stub, bootloader_uki" in found.by_hand


def test_what_removes_it_where_bios_boots_the_image(tmp_path: Path) -> None:
    found = find_work_before_kernel(audited(tmp_path, 700, firmware="default"))
    assert found is not None and found.technique is None and "bootloader_" not in found.by_hand


def test_a_system_without_an_image_has_no_such_finding(tmp_path: Path) -> None:
    analysis = analysis_of_the_boot(tmp_path, Chain(700 * MS), SYSTEM)
    assert find_work_before_kernel(AuditedBoot(analysis, TaskCosts(analysis))) is None
