"""Which combinations of vCPUs, memory, page size and kernel a sweep boots, and which sweeps are refused."""

import pytest

from bootlab.errors import InputError
from bootlab.experiments.sweep.machines import SweepAxes, SweptMachine, places, system_at
from bootlab.system import Kernel, System

SYSTEM = System.model_validate(
    {
        "name": "made-up",
        "machine": {"type": "q35", "vcpus": 2, "memory_mib": 256},
        "kernel": {"image": "/k/one", "cmdline": "quiet"},
        "booted": {"mark": "ready"},
    }
)
OTHER = Kernel.model_validate({"image": "/k/two"})


def test_a_list_is_swept_and_the_rest_stays() -> None:
    found = places(SYSTEM, SweepAxes(vcpus=(1, 2, 4)), 3)
    assert [place.vcpus for place in found] == [1, 2, 4]
    assert {(place.memory_mib, place.page_size, place.kernel) for place in found} == {(256, "auto", "made-up")}


def test_several_lists_give_every_combination_once() -> None:
    wanted = SweepAxes(vcpus=(1, 2), memory_mib=(128, 1024), kernels={"smp": SYSTEM.kernel, "no-smp": OTHER})
    found = places(SYSTEM, wanted, 3)
    assert len(found) == len(set(found)) == len({place.label for place in found}) == 8
    assert wanted.swept() == ("vcpus", "memory_mib", "kernel")
    systems = [system_at(SYSTEM, place, wanted.kernels) for place in found]
    assert [(s.machine.vcpus, s.machine.memory_mib, s.kernel) for s in systems] == [
        (vcpus, memory, kernel) for vcpus in (1, 2) for memory in (128, 1024) for kernel in (SYSTEM.kernel, OTHER)
    ]


def test_one_value_is_no_sweep_but_counts_for_the_others() -> None:
    with pytest.raises(InputError, match="nothing to sweep"):
        places(SYSTEM, SweepAxes(vcpus=(4,)), 1)
    found = places(SYSTEM, SweepAxes(vcpus=(4,), memory_mib=(64, 128)), 1)
    assert {place.vcpus for place in found} == {4}


def test_too_many_boots_are_refused_with_their_number() -> None:
    wanted = SweepAxes(vcpus=tuple(range(1, 33)), memory_mib=(128, 256, 512, 1024))
    with pytest.raises(InputError, match=r"32 x 4 places, 10 boots each: 1280 boots, and a sweep has 500 at most"):
        places(SYSTEM, wanted, 10)


def test_the_page_size_is_the_machines() -> None:
    place = SweptMachine(vcpus=1, memory_mib=128, page_size="2M", kernel="made-up")
    assert system_at(SYSTEM, place, None).machine.page_size.value == "2M"
