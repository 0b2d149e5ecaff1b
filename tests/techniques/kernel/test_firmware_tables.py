"""Firmware's tables: one of them stays."""

from bootlab.system import System
from bootlab.techniques.model.evidence import Measured
from tests.techniques.asking import KERNEL, asked


def test_the_mp_table_comes_back_where_acpi_goes(built: System) -> None:
    found = Measured({}, {}, {}, "", {"ACPI": "y", "X86_MPPARSE": "y"})
    without = KERNEL["kernel_mpparse_off"].change.apply(built, found)
    assert asked(KERNEL["kernel_acpi_off"], without, found) == {"ACPI": "n", "X86_MPPARSE": "y"}
