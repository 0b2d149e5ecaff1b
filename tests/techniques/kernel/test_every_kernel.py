"""What every technique of the kernel layer promises on a system whose kernel is built."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.techniques.model.technique import Technique
from tests.techniques.asking import KERNEL, NOTHING, asked

Make = Callable[..., Evidence]
every = pytest.mark.parametrize("technique", KERNEL.values(), ids=KERNEL.keys())


@every
def test_changes_nothing_but_the_build(technique: Technique, built: System) -> None:
    if (reason := technique.change.applies(built, NOTHING)) is not None:
        assert technique.name in (
            "kernel_appended_dtb",
            "kernel_arm_frame_pointers",
            "kernel_blake2s_assembly",
            "kernel_device_tree_pruned",
            "kernel_ipconfig_no_wait",
            "kernel_reduced",
            "kernel_strict_rwx_off",
            "kernel_thumb2",
        )
        assert "32-bit arm" in reason or "[card]" in reason or "ip=" in reason or "kernel.build.reduced" in reason
        return
    changed = technique.change.apply(built, NOTHING)
    assert changed.kernel.build != built.kernel.build
    assert changed.model_copy(update={"kernel": built.kernel}) == built
    assert technique.change.applies(changed, NOTHING) is not None, "stacked twice it would be a build for nothing"


@every
def test_the_configuration_proves_it(technique: Technique, built: System, evidence: Make) -> None:
    system = built.with_cmdline("ip=10.0.2.15")
    if technique.change.applies(system, NOTHING) is not None:
        return
    wanted = asked(technique, system)
    on = {option: value for option, value in wanted.items() if value != "n"}
    was = {option: "y" for option, value in wanted.items() if value == "n"}
    after = replace(evidence(), kernel_config={"A": "y", **on})
    before = replace(evidence(), kernel_config={"A": "y", **was})
    assert technique.proof.prove(after, before) is Effect.PROVEN
    assert technique.proof.prove(before, before) is Effect.NONE


@every
def test_needs_a_kernel_that_is_built(technique: Technique, system: System, measured: Measured) -> None:
    assert technique.change.applies(system, measured) == "the kernel is not built from source (kernel.build)"
