"""Techniques of clocks: presets taken from the measured boot, and one timer left where there were several."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from tests.techniques.asking import ALL

Make = Callable[..., Evidence]
FIRST = "Linux version 6.1.0"


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


def said(*lines: str) -> Measured:
    return Measured({f"dmesg.{number}": f"[    0.000000] {line}" for number, line in enumerate(lines)}, {}, {}, "")


def test_what_the_kernel_does_not_measure_is_not_preset(system: System) -> None:
    computed = said(
        FIRST, "Calibrating delay loop (skipped), value calculated using timer frequency.. 2 BogoMIPS (lpj=4)"
    )
    assert "computes lpj" in (ALL["cmdline_lpj"].change.applies(system, computed) or "")
    # The further ones may measure theirs.
    assert ALL["cmdline_lpj"].change.applies(system.with_part("machine", vcpus=2), computed) is None
    fast = said(FIRST, "tsc: Fast TSC calibration using PIT", "tsc: Detected 999.993 MHz processor")
    assert "does not spare" in (ALL["cmdline_tsc_early_khz"].change.applies(system, fast) or "")
    deadline = said(FIRST, "TSC deadline timer available")
    assert "TSC deadline" in (ALL["cmdline_nolapic_timer"].change.applies(system, deadline) or "")
    assert "checks none" in (ALL["cmdline_no_timer_check"].change.applies(system, said(FIRST)) or "")
    assert ALL["cmdline_no_timer_check"].change.applies(system, said("cut off")) is None


def test_slow_timing_of_the_counter_is_shown_by_what_does_it(evidence: Make) -> None:
    prove = ALL["cmdline_tsc_early_khz"].proof.prove
    slow, none = evidence(FIRST, ran=("pit_hpet_ptimer_calibrate_cpu",)), evidence(FIRST)
    assert prove(none, slow) is Effect.PROVEN
    assert prove(slow, slow) is Effect.NONE
    for line in ("tsc: using HPET reference calibration", "tsc: PIT calibration matches PMTIMER. 2 loops"):
        assert prove(none, evidence(FIRST, line)) is Effect.PROVEN
    assert prove(none, evidence(FIRST, "tsc: Fast TSC calibration using PIT")) is Effect.NOT_SHOWN
