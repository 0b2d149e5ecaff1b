"""Techniques of a board's application, of what starts it, and of its camera."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.experiments.trial.plan import PLANS
from bootlab.system import Instructions, Libc, System, read_system
from bootlab.techniques.catalogue import load_catalogue
from bootlab.techniques.technique import Evidence, Measured, Proof

Make = Callable[..., Evidence]
ALL = {technique.name: technique for technique in load_catalogue()}
NOTHING = Measured({}, {}, {}, "")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FFMPEG = "/usr/bin/ffmpeg"


@pytest.fixture
def camera() -> System:
    return read_system(EXAMPLES / "camera-board.toml")


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
    assert technique.applies(camera, NOTHING) is None
    changed = technique.apply(camera, NOTHING)
    assert changed.initramfs is not None
    assert getattr(changed.initramfs.programs[FFMPEG], key) == value
    assert "built so already" in (technique.applies(changed, NOTHING) or "")
    for name in ("machine", "kernel", "bootloader", "card", "booted", "check"):
        assert getattr(changed, name) == getattr(camera, name)


def test_musl_programs_are_static(camera: System) -> None:
    changed = ALL["application_musl"].apply(camera, NOTHING)
    assert changed.initramfs is not None and changed.initramfs.programs[FFMPEG].static


def test_all_of_them_can_be_stacked(camera: System) -> None:
    for name in ("application_thumb2", "application_musl", "application_reduced"):
        camera = ALL[name].apply(camera, NOTHING)
    assert "built so already" in (ALL["application_static"].applies(camera, NOTHING) or "")


def test_says_why_not(camera: System, system: System) -> None:
    for name in ("application_reduced", "application_static", "application_thumb2", "application_musl"):
        assert "builds no program from source" in (ALL[name].applies(system, NOTHING) or "")
    assert camera.initramfs is not None
    plain = camera.initramfs.programs[FFMPEG].model_copy(update={"reduced": ()})
    without = camera.with_part("initramfs", programs={FFMPEG: plain})
    assert "`reduced` names no words" in (ALL["application_reduced"].applies(without, NOTHING) or "")


@pytest.mark.parametrize(
    ("name", "after", "before", "proof"),
    [
        ("application_static", {"linked": "static"}, {"linked": "dynamic"}, Proof.PROVEN),
        ("application_static", {"linked": "dynamic"}, {"linked": "dynamic"}, Proof.NO_EFFECT),
        ("application_static", {}, {"linked": "dynamic"}, Proof.NOT_SHOWN),
        ("application_reduced", {"bytes": "1700000"}, {"bytes": "18000000"}, Proof.PROVEN),
        ("application_reduced", {"bytes": "17000000"}, {"bytes": "18000000"}, Proof.NO_EFFECT),
        ("application_thumb2", {"bytes": "84"}, {"bytes": "100"}, Proof.PROVEN),
        ("application_thumb2", {"bytes": "99"}, {"bytes": "100"}, Proof.NO_EFFECT),
        ("application_musl", {"compiler": "clang version 21"}, {"compiler": "gcc 12"}, Proof.PROVEN),
        ("application_musl", {"compiler": "gcc 12"}, {"compiler": "gcc 12"}, Proof.NO_EFFECT),
    ],
)
def test_the_program_that_ran_proves_it(
    name: str, after: dict[str, str], before: dict[str, str], proof: Proof, evidence: Make
) -> None:
    def seen(facts: dict[str, str]) -> Evidence:
        return evidence(**{f"application.{key}": value for key, value in facts.items()})

    assert ALL[name].prove(seen(after), seen(before)) is proof


def test_one_script_must_be_offered(camera: System, system: System, evidence: Make) -> None:
    technique = ALL["userspace_one_script"]
    changed = technique.apply(camera, NOTHING)
    assert changed.kernel.cmdline.endswith(" rdinit=/sbin/init-one")
    assert "rdinit= already" in (technique.applies(changed, NOTHING) or "")
    assert "offers no script" in (technique.applies(system, NOTHING) or "")
    run = evidence("Linux version 6.12", "Run /sbin/init-one as init process")
    assert technique.prove(run, evidence("Linux version 6.12", "Run /init as init process")) is Proof.PROVEN


def test_only_what_the_application_needs_is_left_once_it_is_init(camera: System, evidence: Make) -> None:
    technique = ALL["initramfs_application_only"]
    assert "rdinit=/sbin/init-direct" in (technique.applies(camera, NOTHING) or "")
    direct = ALL["initramfs_direct_init"].apply(ALL["userspace_one_script"].apply(camera, NOTHING), NOTHING)
    assert technique.applies(direct, NOTHING) is None
    changed = technique.apply(direct, NOTHING)
    assert camera.initramfs is not None and changed.initramfs is not None
    assert changed.kernel.cmdline == camera.kernel.cmdline
    assert changed.initramfs.init == camera.initramfs.files["/sbin/init-direct"]
    assert not changed.initramfs.busybox and changed.initramfs.directory is None and not changed.initramfs.files
    assert changed.initramfs.programs == camera.initramfs.programs
    assert technique.applies(changed, NOTHING) is not None
    large, small = (replace(evidence(), sizes={"kernel": size}) for size in (5_000_000, 4_000_000))
    assert technique.prove(small, large) is Proof.PROVEN
    assert technique.prove(large, large) is Proof.NO_EFFECT
    assert technique.prove(evidence(), large) is Proof.NOT_SHOWN
    assert direct.initramfs is not None
    program = direct.initramfs.files["/sbin/init-direct"]
    other = direct.with_part("initramfs", files={"sbin/init-direct": program}, bootlab_init=True)
    assert technique.apply(other, NOTHING).initramfs == changed.initramfs
    made = direct.model_copy(update={"initramfs": direct.initramfs.model_copy(update={"installed": True})})
    assert "initramfs.installed" in (technique.applies(made, NOTHING) or "")
    beside = {"kernel": 5_000_000, "initramfs": 2_000_000}
    assert technique.prove(replace(evidence(), sizes=beside), replace(evidence(), sizes=beside)) is Proof.NO_EFFECT


def test_the_kernel_is_built_from_what_the_job_needs(camera: System, evidence: Make) -> None:
    technique = ALL["kernel_reduced"]
    stepped = camera.with_options(SMP="n", KERNEL_LZO="y")
    changed = technique.apply(stepped, NOTHING).kernel.build
    was = camera.kernel.build
    assert changed is not None and was is not None
    assert (changed.base, changed.fragments, changed.options) == ("allnoconfig", was.reduced, {})
    assert (changed.package, changed.suite, changed.patches) == (was.package, was.suite, was.patches)
    assert "already" in (technique.applies(technique.apply(camera, NOTHING), NOTHING) or "")
    unsaid = camera.with_part("kernel", build={**dict(was), "reduced": ()})
    assert "kernel.build.reduced" in (technique.applies(unsaid, NOTHING) or "")
    many, few = (replace(evidence(), kernel_config={str(n): "y" for n in range(count)}) for count in (1000, 300))
    assert technique.prove(few, many) is Proof.PROVEN
    assert technique.prove(many, many) is Proof.NO_EFFECT
    assert technique.prove(evidence(), many) is Proof.NOT_SHOWN


def test_the_ladder_of_the_camera_board_ends_at_the_fast_one(camera: System) -> None:
    fast = read_system(EXAMPLES / "camera-board-fast.toml")
    for name in PLANS["camera-2019"].techniques or ():
        if ALL[name].applies(camera, NOTHING) is None:
            camera = ALL[name].apply(camera, NOTHING)
    for part in ("machine", "clock", "board_model"):
        assert getattr(camera, part) == getattr(fast, part)
    assert camera.card is not None and camera.card.device_tree == "appended"
    build, wanted = camera.kernel.build, fast.kernel.build
    assert build is not None and wanted is not None
    assert (build.base, build.fragments) == (wanted.base, wanted.fragments)
    assert build.options == {**wanted.options, "ARM_APPENDED_DTB": "y"}
    assert camera.initramfs is not None and fast.initramfs is not None
    assert camera.initramfs.model_copy(update={"compression": fast.initramfs.compression}) == fast.initramfs
    assert camera.bootloader is not None and fast.bootloader is not None
    patches, those = ([path.resolve() for path in one.patches] for one in (camera.bootloader, fast.bootloader))
    assert camera.bootloader.falcon and patches == those
    assert fast.bootloader.options.items() <= camera.bootloader.options.items()
    assert "rdinit" not in camera.kernel.cmdline


def test_the_camera_is_powered_by_the_first_stage(camera: System, system: System, evidence: Make) -> None:
    technique = ALL["bootloader_camera_power"]
    assert "no camera that takes time" in (technique.applies(camera, NOTHING) or "")
    assert "no camera that takes time" in (technique.applies(system, NOTHING) or "")
    slow = camera.with_part("board_model", camera_ms=1200)
    assert technique.applies(slow, NOTHING) is None
    changed = technique.apply(slow, NOTHING)
    assert changed.board_model is not None and changed.board_model.camera_power == "spl"
    assert "already" in (technique.applies(changed, NOTHING) or "")
    early, late = (evidence(**{"board_model.camera_powered_us": at}) for at in ("10", "273811"))
    assert technique.prove(early, late) is Proof.PROVEN
    assert technique.prove(late, late) is Proof.NO_EFFECT


def test_ports_that_nothing_names_are_looked_for_on_x86_alone(camera: System, system: System) -> None:
    # Its console is an 8250, which the device tree names.
    why = ALL["cmdline_8250_nr_uarts"].applies(camera, NOTHING)
    assert why == "the kernel looks for serial ports that nothing names on x86-64 only; this system is armv7"
    assert ALL["cmdline_8250_nr_uarts"].applies(system, NOTHING) is None
