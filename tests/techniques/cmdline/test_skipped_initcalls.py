"""Initcalls that are skipped: only those that ran, and the slowest of the safe ones."""

from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.cmdline.skipped_initcalls import SAFE
from bootlab.techniques.model.evidence import Measured
from tests.techniques.asking import ALL


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].change.applies(system, measured) is None
    return ALL[name].change.apply(system, measured)


def test_the_slowest_safe_initcall_is_skipped_and_then_the_next(system: System, measured: Measured) -> None:
    measured = replace(measured, initcalls_ns={"ksm_init": 8, "cmos_init": 9, "acpi_init": 100})
    once = apply("cmdline_slowest_initcall", system, measured)
    twice = apply("cmdline_slowest_initcall", once, measured)
    assert once.kernel.cmdline.endswith(" initcall_blacklist=cmos_init")
    assert twice.kernel.cmdline.endswith(" initcall_blacklist=ksm_init")
    assert ALL["cmdline_slowest_initcall"].change.applies(twice, measured) is not None


def test_an_initcall_that_did_not_run_is_not_skipped(system: System, measured: Measured) -> None:
    assert (
        ALL["cmdline_trace_events"].change.applies(system, measured)
        == "the baseline boot ran no initcall trace_eval_init"
    )
    unseen = replace(measured, initcalls_ns={})
    assert ALL["cmdline_trace_events"].change.applies(system, unseen) is None


def test_a_kernel_that_knows_no_names_skips_none(system: System, measured: Measured) -> None:
    nameless = replace(measured, kernel_config={"SMP": "y"})
    for name in ("cmdline_slowest_initcall", "cmdline_tracefs"):
        assert "KALLSYMS" in (ALL[name].change.applies(system, nameless) or "")


def test_nothing_is_skipped_that_a_program_could_then_make_the_kernel_crash_with() -> None:
    assert not {"userfaultfd_init", "inet6_init", "digsig_init", "nvme_core_init", "tpm_init"} & SAFE.keys()
