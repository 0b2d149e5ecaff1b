"""Options of a kernel build: what is asked for, what is left alone, and why not."""

from collections.abc import Mapping
from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.system import System
from bootlab.techniques.changes.kernel_options import (
    NOT_BUILT,
    WantedOptions,
    choice,
    kernel_change,
    kernel_proof,
    off,
    rebuilt_kernel,
)
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.techniques.model.proofs import never_runs
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Text

CONFIG = {"SMP": "y", "HZ_250": "y", "HZ": "250", "EVENTFD": "y", "MEMCG": "y", "AIO": "y", "FOO": "m"}
SMP_OFF = off("SMP")


def change(options: Mapping[str, str] = SMP_OFF, **others: Any) -> Change:
    return kernel_change(WantedOptions(options, **others))


def measured(**config: str) -> Measured:
    return Measured({}, {}, {}, "", config or CONFIG)


def options(one: Change, system: System, found: Measured) -> dict[str, str]:
    build = one.apply(system, found).kernel.build
    assert build is not None
    return build.options


def test_only_news_is_asked_for(built: System) -> None:
    one = change(off("SMP", "NEVER_HEARD_OF"), gates={"EXPERT": "y", **off("LATENCYTOP")})
    assert options(one, built, measured()) == {"EXPERT": "y", "SMP": "n"}
    # Without a configuration to look at, all of it.
    assert set(options(one, built, Measured({}, {}, {}, ""))) == {"EXPERT", "SMP", "NEVER_HEARD_OF", "LATENCYTOP"}


def test_what_an_earlier_step_asked_for_is_overruled(built: System) -> None:
    hz = ("HZ_100", "HZ_250", "HZ_1000")
    first = change(choice("HZ_100", hz)).apply(built, measured())
    assert options(change(choice("HZ_1000", hz)), first, measured()) == {
        "HZ_100": "n",
        "HZ_250": "n",
        "HZ_1000": "y",
    }


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"options": off("NUMA")}, "NUMA is off already"),
        ({"options": off("A", "B")}, "A and B are off already"),
        ({"options": off("A", "B", "C", "D", "E")}, "A, B, C and 2 more are off already"),
        ({"options": {"HZ_250": "y"}}, "the kernel has HZ_250=y already"),
        ({"needs": ("RAID6_PQ",)}, "RAID6_PQ is off, and without it this means nothing"),
        ({"arch": ("armv7",)}, "only 32-bit arm; this system is x86_64"),
        ({"applies": lambda system, measured: "because"}, "because"),
    ],
)
def test_says_why_not(asked: dict[str, Any], reason: str, built: System) -> None:
    one = change(**asked)
    assert one.applies(built, measured()) == reason
    with pytest.raises(InputError, match=reason):
        one.apply(built, measured())


def test_a_finished_kernel_has_no_options(system: System) -> None:
    assert change().applies(system, measured()) == NOT_BUILT


def test_an_option_that_another_selects_stays(built: System) -> None:
    one = change(off("EVENTFD", "AIO"), kept_by={"EVENTFD": ("MEMCG",)})
    assert options(one, built, measured()) == {"AIO": "n"}
    without = {option: value for option, value in CONFIG.items() if option != "MEMCG"}
    assert options(one, built, measured(**without)) == {"EVENTFD": "n", "AIO": "n"}


def test_options_that_depend_on_the_system_come_along(built: System) -> None:
    one = change(more=lambda system, found: off(*(name for name, value in found.kernel_config.items() if value == "m")))
    assert options(one, built, measured()) == {"SMP": "n", "FOO": "n"}


def test_a_technique_of_options_is_put_together(built: System) -> None:
    text = Text("builds it", "", "", Risk.NONE, (none_published("here"),))
    one = rebuilt_kernel(
        "kernel_x", text, WantedOptions(off("SMP", "KCMP"), kept_by={"KCMP": ("DRM",)}), shows=never_runs("smp_init")
    )
    assert (one.change.layer, one.change.knob) == (Layer.KERNEL, "kernel.build.options: SMP=n, KCMP=n")
    assert one.proof.watch == ("smp_init",)
    # What may be left as it is proves nothing.
    without, before = (Evidence({}, {}, {}, "", None, config) for config in ({"KCMP": "y"}, {"SMP": "y"}))
    assert one.proof.prove(without, before) is Effect.PROVEN


def test_an_older_kernel_is_asked_by_the_names_that_it_knows(built: System) -> None:
    older = measured(RETHUNK="y", CPU_SRSO="y", RETPOLINE="y")
    one = change(off("MITIGATION_RETHUNK"), gates=off("MITIGATION_SRSO", "MITIGATION_ITS"))
    assert options(one, built, older) == {"RETHUNK": "n", "CPU_SRSO": "n"}
    assert options(one, built, measured(MITIGATION_RETHUNK="y")) == {"MITIGATION_RETHUNK": "n"}
    assert one.applies(one.apply(built, older), older) == "RETHUNK is off already"
    # The other way round: until 6.10 it was the large tables that had a name of their own.
    small = change({"BASE_SMALL": "y"})
    assert options(small, built, measured(BASE_FULL="y", BASE_SMALL="0")) == {"BASE_FULL": "n"}
    assert options(small, built, measured(SMP="y")) == {"BASE_SMALL": "y"}


def test_a_later_kernel_is_asked_by_the_names_that_it_knows(built: System) -> None:
    one = change({"CRYPTO_MANAGER_DISABLE_TESTS": "y"})
    assert options(one, built, measured(CRYPTO_SELFTESTS="y", CRYPTO="y")) == {"CRYPTO_SELFTESTS": "n"}
    assert options(one, built, measured(CRYPTO="y")) == {"CRYPTO_MANAGER_DISABLE_TESTS": "y"}
    was, now, old = (
        Evidence({}, {}, {}, "", None, config)
        for config in ({"CRYPTO": "y", "CRYPTO_SELFTESTS": "y"}, {"CRYPTO": "y"}, {"CRYPTO_MANAGER_DISABLE_TESTS": "y"})
    )
    prove = kernel_proof(WantedOptions({"CRYPTO_MANAGER_DISABLE_TESTS": "y"})).prove
    assert (prove(now, was), prove(was, was), prove(old, now)) == (Effect.PROVEN, Effect.NONE, Effect.PROVEN)


def test_what_a_technique_is_about_are_its_options_by_every_name() -> None:
    assert "CRYPTO_SELFTESTS" in change({"CRYPTO_MANAGER_DISABLE_TESTS": "y"}).options
    assert change(off("CPU_MITIGATIONS"), gates={"EXPERT": "y"}).options == (
        "CPU_MITIGATIONS",
        "SPECULATION_MITIGATIONS",
    )
