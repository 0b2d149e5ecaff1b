"""Options of a kernel build: what is asked for, what is left alone, why not, and what proves it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.errors import InputError
from bootlab.system import System
from bootlab.techniques.build_options import NOT_BUILT, choice, off, option_technique
from bootlab.techniques.evidence import configured, initcalls_gone, line_appears
from bootlab.techniques.technique import Evidence, Measured, Proof, Risk, Source, Technique

Make = Callable[..., Evidence]
CONFIG = {"SMP": "y", "HZ_250": "y", "HZ": "250", "EVENTFD": "y", "MEMCG": "y", "AIO": "y", "FOO": "m"}


def technique(**changes: object) -> Technique:
    known: dict[str, object] = {
        "name": "kernel_x",
        "summary": "builds it",
        "mechanism": "",
        "cost": "",
        "risk": Risk.NONE,
        "sources": (Source("1 ms", "here"),),
        "options": off("SMP"),
    }
    return option_technique(**{**known, **changes})  # type: ignore[arg-type]


def measured(**config: str) -> Measured:
    return Measured({}, {}, {}, "", config or CONFIG)


def options(one: Technique, system: System, found: Measured) -> dict[str, str]:
    build = one.apply(system, found).kernel.build
    assert build is not None
    return build.options


def test_only_news_is_asked_for(built: System) -> None:
    one = technique(options=off("SMP", "NEVER_HEARD_OF"), gates={"EXPERT": "y", **off("LATENCYTOP")})
    assert options(one, built, measured()) == {"EXPERT": "y", "SMP": "n"}
    # Without a configuration to look at, all of it.
    assert set(options(one, built, Measured({}, {}, {}, ""))) == {"EXPERT", "SMP", "NEVER_HEARD_OF", "LATENCYTOP"}


def test_what_an_earlier_step_asked_for_is_overruled(built: System) -> None:
    hz = ("HZ_100", "HZ_250", "HZ_1000")
    first = technique(options=choice("HZ_100", hz)).apply(built, measured())
    assert options(technique(options=choice("HZ_1000", hz)), first, measured()) == {
        "HZ_100": "n",
        "HZ_250": "n",
        "HZ_1000": "y",
    }


@pytest.mark.parametrize(
    ("changes", "reason"),
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
def test_says_why_not(changes: dict[str, object], reason: str, built: System) -> None:
    one = technique(**changes)
    assert one.applies(built, measured()) == reason
    with pytest.raises(InputError, match=f"kernel_x: {reason}"):
        one.apply(built, measured())


def test_a_finished_kernel_has_no_options(system: System) -> None:
    assert technique().applies(system, measured()) == NOT_BUILT


def test_an_option_that_another_selects_stays(built: System) -> None:
    one = technique(options=off("EVENTFD", "AIO"), kept_by={"EVENTFD": ("MEMCG",)})
    assert options(one, built, measured()) == {"AIO": "n"}
    without = {option: value for option, value in CONFIG.items() if option != "MEMCG"}
    assert options(one, built, measured(**without)) == {"EVENTFD": "n", "AIO": "n"}


def test_options_that_depend_on_the_system_come_along(built: System) -> None:
    one = technique(
        more=lambda system, found: off(*(name for name, value in found.kernel_config.items() if value == "m"))
    )
    assert options(one, built, measured()) == {"SMP": "n", "FOO": "n"}


@pytest.mark.parametrize(
    ("after", "before", "proof"),
    [
        ({"A": "y"}, {"A": "y", "SMP": "y"}, Proof.PROVEN),
        ({"A": "y", "SMP": "y"}, {"A": "y", "SMP": "y"}, Proof.NO_EFFECT),
        ({"A": "y"}, {"A": "y"}, Proof.NOT_SHOWN),
        ({"A": "y"}, {}, Proof.NOT_SHOWN),
        ({}, {"SMP": "y"}, Proof.NOT_SHOWN),
    ],
)
def test_the_configuration_of_the_image_proves(
    after: dict[str, str], before: dict[str, str], proof: Proof, evidence: Make
) -> None:
    new, old = (replace(evidence(), kernel_config=config) for config in (after, before))
    assert configured(off("SMP"))(new, old) is proof


def test_a_boot_that_contradicts_overrules_its_configuration(evidence: Make) -> None:
    prove = configured(off("SMP"), line_appears("one CPU"))
    new = replace(evidence("Linux version 6.12"), kernel_config={"A": "y"})
    old = replace(evidence("Linux version 6.12"), kernel_config={"SMP": "y"})
    assert prove(new, old) is Proof.NO_EFFECT
    said = replace(evidence("Linux version 6.12", "one CPU"), kernel_config={"A": "y"})
    assert prove(said, old) is Proof.PROVEN
    # A boot whose configuration is not known can still show it.
    assert prove(replace(said, kernel_config={}), old) is Proof.PROVEN


def test_initcalls_that_are_gone(evidence: Make) -> None:
    prove = initcalls_gone("inet6_init", "never_was")
    ran, other, silent = (
        replace(evidence(), initcalls_ns=found) for found in ({"inet6_init": 5, "x": 1}, {"x": 1}, {})
    )
    assert prove(other, ran) is Proof.PROVEN
    assert prove(ran, ran) is Proof.NO_EFFECT
    assert prove(silent, ran) is Proof.NOT_SHOWN
    assert prove(other, other) is Proof.NOT_SHOWN
