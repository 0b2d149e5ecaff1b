"""Programs ahead of the kernel: whose code a name is, and what each executed in which phase."""

from typing import Any

import pytest

from bootlab.profile.recorded.record_types import Space
from bootlab.profile.tables.activity import find_activity
from bootlab.profile.tables.programs import program_of
from tests.profile.tables.finished import finish


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("DxeCore@0x1a40", "DxeCore"),
        ("loaded by GRUB@0x3be61f23", "loaded by GRUB"),
        ("[firmware]", "firmware"),
        ("board_init_f [SPL]", "SPL"),
        ("start_kernel", ""),
        ("", ""),
    ],
)
def test_whose_code_a_name_is(name: str, program: str) -> None:
    assert program_of(name) == program


def test_what_each_program_executed_itself_by_phase(profile_writer: Any) -> None:
    writer = profile_writer
    writer.spend("[firmware]", 5, space=Space.STAGE)
    writer.function("DxeCore@0x10", Space.CODE)
    writer.function("DxeCore@0x20", Space.CODE)
    writer.function("GRUB@0x0", Space.CODE)
    writer.spend("[firmware];DxeCore@0x10", 30)
    writer.cut("bds_entry")
    writer.spend("[firmware];DxeCore@0x10;GRUB@0x0", 40)
    writer.spend("[firmware];DxeCore@0x10;GRUB@0x0;DxeCore@0x20", 20)
    writer.cut("kernel_entry")
    writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 100)
    writer.cut("ready")
    phases = find_activity(finish(writer), {"bds_entry": 35, "kernel_entry": 95, "ready": 195}).phases
    shown = [[(one.name, one.functions, one.instructions) for one in phase.programs] for phase in phases]
    assert shown[0] == [("DxeCore", 1, 30), ("firmware", 1, 5)]
    assert shown[1] == [("GRUB", 1, 40), ("DxeCore", 1, 20)]
    assert shown[-1] == []
    assert phases[1].programs[0].share == pytest.approx(2 / 3)
