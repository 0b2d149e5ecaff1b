"""How many CPUs a kernel is built for: as many as the machine has."""

from bootlab.system import MachineType, System
from bootlab.techniques.model.evidence import Measured
from tests.techniques.asking import KERNEL, NOTHING


def test_smp_is_kept_on_a_machine_with_several_vcpus(built: System) -> None:
    told_of_all = built.with_part("machine", options={})
    several = told_of_all.with_part("machine", vcpus=2)
    assert (KERNEL["kernel_smp_off"].change.applies(several, NOTHING) or "").startswith(
        "the machine has 2 vCPUs, and no word"
    )
    assert KERNEL["kernel_smp_off"].change.applies(several.with_cmdline("nosmp"), NOTHING) is None
    assert "9 vCPUs" in (
        KERNEL["kernel_nr_cpus"].change.applies(told_of_all.with_part("machine", vcpus=9), NOTHING) or ""
    )
    few = Measured({}, {}, {}, "", {"SMP": "y", "NR_CPUS": "2"})
    assert KERNEL["kernel_nr_cpus"].change.applies(built, few) == "NR_CPUS is 2 already"


def test_arm64_is_always_built_for_several(built: System) -> None:
    arm = built.with_part("machine", type=MachineType.VIRT, options={})
    assert KERNEL["kernel_smp_off"].change.applies(arm, NOTHING) == (
        "only x86-64 and 32-bit arm and riscv64; this system is aarch64"
    )
