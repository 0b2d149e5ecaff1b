"""Techniques of clocks: values from the measured boot, and one timer that is left."""

from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured

ALL = {technique.name: technique for technique in load_catalogue()}


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].change.applies(system, measured) is None
    return ALL[name].change.apply(system, measured)


def test_values_come_from_the_measured_boot(system: System, measured: Measured) -> None:
    assert apply("cmdline_lpj", system, measured).kernel.cmdline.endswith(" lpj=3999972")
    assert apply("cmdline_tsc_early_khz", system, measured).kernel.cmdline.endswith(" tsc_early_khz=999993")
    silent = replace(measured, facts={})
    assert "does not say" in (ALL["cmdline_lpj"].change.applies(system, silent) or "")


def test_per_cpu_hardware_stays_on_a_machine_with_several_vcpus(system: System, measured: Measured) -> None:
    several = system.with_part("machine", vcpus=2)
    assert "2 vCPUs" in (ALL["cmdline_nolapic_timer"].change.applies(several, measured) or "")
    assert apply("machine_one_vcpu", several, measured).machine.vcpus == 1


def test_one_timer_is_left(system: System, measured: Measured) -> None:
    microvm = apply("machine_microvm", system, measured)
    assert "no other timer" in (ALL["cmdline_nolapic_timer"].change.applies(microvm, measured) or "")
    no_lapic = apply("cmdline_nolapic_timer", system, measured)
    assert "no other timer" in (ALL["machine_microvm"].change.applies(no_lapic, measured) or "")
