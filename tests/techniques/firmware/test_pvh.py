"""The PVH entry is proved by the kernel's decompressor, which has not run."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.system import KernelEntry, System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from tests.techniques.asking import ALL

Make = Callable[..., Evidence]


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].change.applies(system, measured) is None
    return ALL[name].change.apply(system, measured)


def test_pvh_is_proven_by_the_missing_decompressor(system: System, measured: Measured, evidence: Make) -> None:
    def boot(kernel_entry_ns: int) -> Evidence:
        return Evidence({}, {}, {"image_entry": 5_000_000, "kernel_entry": kernel_entry_ns}, "", 0)

    prove = ALL["firmware_pvh"].proof.prove
    assert prove(boot(5_000_000), boot(700_000_000)) is Effect.PROVEN
    assert prove(boot(700_000_000), boot(700_000_000)) is Effect.NONE
    assert prove(evidence(boot_protocol="0x020c"), evidence(boot_protocol="0x020f")) is Effect.PROVEN
    assert apply("firmware_pvh", system, measured).kernel.entry is KernelEntry.PVH
    without = replace(measured, kernel_config={"SMP": "y"})
    assert ALL["firmware_pvh"].change.applies(system, without) == "the kernel has no such entry: PVH is off"
