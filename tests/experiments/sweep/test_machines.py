"""Which combinations of vCPUs, memory, page size, kernel and keys a sweep boots, and which sweeps are refused."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.experiments.sweep.machines import SweepAxes, SweptMachine, places, system_at
from bootlab.system import Kernel, System
from bootlab.system.setting import KeySetting, parse_setting, system_with
from bootlab.system.text import system_text

SYSTEM = System.model_validate(
    {
        "name": "made-up",
        "machine": {"type": "q35", "vcpus": 2, "memory_mib": 256},
        "kernel": {"image": __file__, "cmdline": "quiet"},
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
    systems = [system_at(SYSTEM, place, wanted) for place in found]
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
    assert system_at(SYSTEM, place, SweepAxes()).machine.page_size.value == "2M"


def _made(settings: Sequence[KeySetting]) -> System:
    return system_with(system_text(SYSTEM).encode(), Path("made-up.toml"), settings)


def _setting(typed: str) -> dict[str, list[KeySetting]]:
    key, values = parse_setting(typed)
    return {key: values}


def test_a_key_of_the_system_file_is_an_axis_like_any_other() -> None:
    wanted = SweepAxes(vcpus=(1, 2), settings=_setting("kernel.cmdline=quiet,,'a/b c'"), made=_made)
    found = places(SYSTEM, wanted, 1)
    assert wanted.swept() == ("vcpus", "kernel.cmdline")
    assert len({place.label for place in found}) == len(found) == 6
    assert all("/" not in place.label and " " not in place.label for place in found)
    assert [place.at("kernel.cmdline") for place in found[:3]] == ["quiet", "(not set)", "'a/b c'"]
    assert found[0].without("vcpus") == found[3].without("vcpus") != found[1].without("vcpus")
    systems = [system_at(SYSTEM, place, wanted) for place in found]
    assert [(one.machine.vcpus, one.kernel.cmdline) for one in systems] == [
        (vcpus, words) for vcpus in (1, 2) for words in ("quiet", "", "a/b c")
    ]
    assert found[5].booted(wanted.swept()) == "kernel.cmdline 'a/b c'"
    assert found[5].booted(("vcpus",)) == "made-up"
    assert found[5].booted(("kernel", "kernel.cmdline")) == "made-up, kernel.cmdline 'a/b c'"


def test_a_setting_of_one_value_holds_everywhere() -> None:
    wanted = SweepAxes(vcpus=(1, 2), settings=_setting("kernel.cmdline=x"), made=_made)
    assert {system_at(SYSTEM, place, wanted).kernel.cmdline for place in places(SYSTEM, wanted, 1)} == {"x"}


@pytest.mark.parametrize(
    ("typed", "kernels", "said"),
    [
        ("machine.vcpus=1,2", None, "machine.vcpus: has an option of its own"),
        ("seed=1,2", None, "seed: has an option of its own"),
        ("clock.shift=0,1", None, "all places of a sweep have the system's own clock"),
        ("'seed'=1,2", None, "seed: has an option of its own"),
        ('"clock".shift=0,1', None, "all places of a sweep have the system's own clock"),
        ("machine={type='q35'},{}", None, "set a key of it, as in machine.cpu"),
        ("kernel.cmdline=a,b", {"a": OTHER}, "--kernel brings whole kernels"),
    ],
)
def test_what_is_not_to_be_set_is_refused(typed: str, kernels: dict[str, Kernel] | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        places(SYSTEM, SweepAxes(kernels=kernels, settings=_setting(typed)), 1)


def test_a_key_within_another_that_is_set_is_refused() -> None:
    settings = {**_setting("rootfs.model=hdd,ssd"), **_setting("'rootfs'={},{packages=[]}")}
    with pytest.raises(InputError, match="rootfs.model and rootfs: one is in the other"):
        places(SYSTEM, SweepAxes(settings=settings), 1)
