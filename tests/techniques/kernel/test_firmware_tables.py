"""Firmware's tables: one of them stays."""

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer, Technique

KERNEL = {technique.name: technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL}
EMPTY = Measured({}, {}, {}, "")


def asked(technique: Technique, system: System, measured: Measured = EMPTY) -> dict[str, str]:
    build = technique.change.apply(system, measured).kernel.build
    assert build is not None
    return build.options


def test_the_mp_table_comes_back_where_acpi_goes(built: System) -> None:
    found = Measured({}, {}, {}, "", {"ACPI": "y", "X86_MPPARSE": "y"})
    without = KERNEL["kernel_mpparse_off"].change.apply(built, found)
    assert asked(KERNEL["kernel_acpi_off"], without, found) == {"ACPI": "n", "X86_MPPARSE": "y"}
