"""Initcalls that are skipped: only those that ran, and the slowest of the safe ones."""

from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured

ALL = {technique.name: technique for technique in load_catalogue()}


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].change.applies(system, measured) is None
    return ALL[name].change.apply(system, measured)


def test_the_slowest_safe_initcall_is_skipped_and_then_the_next(system: System, measured: Measured) -> None:
    measured = replace(measured, initcalls_ns={"inet6_init": 8, "tpm_init": 9, "acpi_init": 100})
    once = apply("cmdline_slowest_initcall", system, measured)
    twice = apply("cmdline_slowest_initcall", once, measured)
    assert once.kernel.cmdline.endswith(" initcall_blacklist=tpm_init")
    assert twice.kernel.cmdline.endswith(" initcall_blacklist=inet6_init")
    assert ALL["cmdline_slowest_initcall"].change.applies(twice, measured) is not None


def test_an_initcall_that_did_not_run_is_not_skipped(system: System, measured: Measured) -> None:
    assert (
        ALL["cmdline_trace_events"].change.applies(system, measured)
        == "the baseline boot ran no initcall trace_eval_init"
    )
    unseen = replace(measured, initcalls_ns={})
    assert ALL["cmdline_trace_events"].change.applies(system, unseen) is None
