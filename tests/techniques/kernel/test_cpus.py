"""How many CPUs a kernel is built for: as many as the machine has."""

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer

KERNEL = {technique.name: technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL}
EMPTY = Measured({}, {}, {}, "")


def test_smp_is_kept_on_a_machine_with_several_vcpus(built: System) -> None:
    several = built.with_part("machine", vcpus=2)
    assert (KERNEL["kernel_smp_off"].change.applies(several, EMPTY) or "").startswith(
        "the machine has 2 vCPUs, and no word"
    )
    assert KERNEL["kernel_smp_off"].change.applies(several.with_cmdline("nosmp"), EMPTY) is None
    assert "9 vCPUs" in (KERNEL["kernel_nr_cpus"].change.applies(built.with_part("machine", vcpus=9), EMPTY) or "")
    few = Measured({}, {}, {}, "", {"SMP": "y", "NR_CPUS": "2"})
    assert KERNEL["kernel_nr_cpus"].change.applies(built, few) == "NR_CPUS is 2 already"
