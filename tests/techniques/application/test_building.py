"""The application built another way: what changes, and what proves it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.system import Instructions, Libc, System
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING

Make = Callable[..., Evidence]
FFMPEG = "/usr/bin/ffmpeg"


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("application_reduced", "reduce", True),
        ("application_static", "static", True),
        ("application_thumb2", "instructions", Instructions.THUMB2),
        ("application_musl", "libc", Libc.MUSL),
    ],
)
def test_the_application_is_built_another_way(name: str, key: str, value: object, camera: System) -> None:
    technique = ALL[name]
    assert technique.change.applies(camera, NOTHING) is None
    changed = technique.change.apply(camera, NOTHING)
    assert changed.initramfs is not None
    assert getattr(changed.initramfs.programs[FFMPEG], key) == value
    assert "built so already" in (technique.change.applies(changed, NOTHING) or "")
    for name in ("machine", "kernel", "bootloader", "card", "booted", "check"):
        assert getattr(changed, name) == getattr(camera, name)


def test_musl_programs_are_static(camera: System) -> None:
    changed = ALL["application_musl"].change.apply(camera, NOTHING)
    assert changed.initramfs is not None and changed.initramfs.programs[FFMPEG].static


def test_uclibc_needs_the_compiler_that_the_system_file_names(camera: System, tmp_path: Path) -> None:
    technique = ALL["application_uclibc"]
    assert "names no cross compiler of uClibc's" in (technique.change.applies(camera, NOTHING) or "")
    assert camera.initramfs is not None
    named = camera.initramfs.programs[FFMPEG].model_copy(update={"uclibc_compiler": tmp_path / "gcc"})
    system = camera.with_part("initramfs", programs={FFMPEG: named})
    assert technique.change.applies(system, NOTHING) is None
    changed = technique.change.apply(system, NOTHING)
    assert changed.initramfs is not None
    program = changed.initramfs.programs[FFMPEG]
    assert (program.libc, program.static) == (Libc.UCLIBC, True)
    assert "built so already" in (technique.change.applies(changed, NOTHING) or "")


def test_all_of_them_can_be_stacked(camera: System) -> None:
    for name in ("application_thumb2", "application_musl", "application_reduced"):
        camera = ALL[name].change.apply(camera, NOTHING)
    assert "built so already" in (ALL["application_static"].change.applies(camera, NOTHING) or "")


def test_says_why_not(camera: System, system: System) -> None:
    for name in ("application_reduced", "application_static", "application_thumb2", "application_musl"):
        assert "builds no program from source" in (ALL[name].change.applies(system, NOTHING) or "")
    assert camera.initramfs is not None
    plain = camera.initramfs.programs[FFMPEG].model_copy(update={"reduced": ()})
    without = camera.with_part("initramfs", programs={FFMPEG: plain})
    assert "`reduced` names no words" in (ALL["application_reduced"].change.applies(without, NOTHING) or "")


@pytest.mark.parametrize(
    ("name", "after", "before", "effect"),
    [
        ("application_static", {"linked": "static"}, {"linked": "dynamic"}, Effect.PROVEN),
        ("application_static", {"linked": "dynamic"}, {"linked": "dynamic"}, Effect.NONE),
        ("application_static", {}, {"linked": "dynamic"}, Effect.NOT_SHOWN),
        ("application_reduced", {"bytes": "1700000"}, {"bytes": "18000000"}, Effect.PROVEN),
        ("application_reduced", {"bytes": "17000000"}, {"bytes": "18000000"}, Effect.NONE),
        ("application_thumb2", {"bytes": "84"}, {"bytes": "100"}, Effect.PROVEN),
        ("application_thumb2", {"bytes": "99"}, {"bytes": "100"}, Effect.NONE),
        ("application_musl", {"libc": "another"}, {"libc": "glibc"}, Effect.PROVEN),
        ("application_musl", {"libc": "glibc", "compiler": "clang version 21"}, {"libc": "glibc"}, Effect.NONE),
        ("application_musl", {"compiler": "clang version 21"}, {"compiler": "gcc 12"}, Effect.NOT_SHOWN),
    ],
)
def test_the_program_that_ran_proves_it(
    name: str, after: dict[str, str], before: dict[str, str], effect: Effect, evidence: Make
) -> None:
    def seen(facts: dict[str, str]) -> Evidence:
        return evidence(**{f"application.{key}": value for key, value in facts.items()})

    assert ALL[name].proof.prove(seen(after), seen(before)) is effect
