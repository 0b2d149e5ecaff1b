"""Techniques put on a system: what each is told, and which cannot be had, so that nothing is built or booted for it."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.experiments.trial.applying import machine_lacks
from bootlab.system import System, read_system
from bootlab.targets.replay.recordings import KERNEL_CONFIG
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Apply, Technique
from tests.replayed import Booted, answer, own_kernel, replayed, trial, with_word, without, word

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(("example", "part"), [("camera-board", "card"), ("riscv-board", "flash")])
def test_what_lies_in_a_finished_image_cannot_change(example: str, part: str) -> None:
    composed = read_system(EXAMPLES / f"{example}.toml")
    assert machine_lacks(composed, composed.with_cmdline("quiet")) is None
    finished = composed.with_part(part, path=Path("finished.img"))
    for changed in (
        finished.with_cmdline("quiet"),
        finished.with_options(SMP="n"),
        finished.with_part("initramfs", compression="lz4"),
    ):
        assert f"{part}.path" in (machine_lacks(finished, changed) or "")
    assert machine_lacks(finished, finished) is None
    assert machine_lacks(finished, finished.with_seed(2)) is None


def changing(name: str, change: Apply) -> Technique:
    """Return a technique that changes a system in its own way."""
    one = word(name)
    return replace(one, change=replace(one.change, apply=change))


def refuse(system: System, measured: Measured) -> System:
    raise InputError("kernel.cmdline: no room")


def test_what_does_not_apply_or_cannot_be_made_is_a_row_and_is_not_booted(tmp_path: Path) -> None:
    booted, told = Booted(), list[str]()
    system = replayed(
        tmp_path, answer("refused", refused="no such\n  option"), answer("unbuilt", unbuilt="make failed")
    )
    techniques = [
        word("elsewhere", applies=with_word("other")),
        changing("full", refuse),
        word("refused"),
        word("unbuilt"),
        word("fine"),
    ]
    result = trial(tmp_path, system, techniques, watcher=booted, tell=told.append, stack=False).run()
    assert [(row.technique, row.verdict.value, row.detail) for row in result.alone] == [
        ("elsewhere", "does not apply", "needs other"),
        ("full", "does not apply", "kernel.cmdline: no room"),
        ("refused", "does not apply", "no such: option"),
        ("unbuilt", "broke it", "make failed"),
        ("fine", "no difference shown", ""),
    ]
    assert not [label for label in booted.labels if not label.startswith(("baseline-", "alone-fine-"))]
    assert "unbuilt: make failed" in told
    assert all(row.saved_ns is None and row.members == [] for row in result.alone[:4])


def test_each_stands_on_what_is_there_already(tmp_path: Path) -> None:
    """On a stack a technique is put on all before it, and asked again whether it applies there."""
    seen: list[str] = []

    def look(system: System, measured: Measured) -> System:
        seen.append(system.kernel.cmdline)
        return system.with_cmdline("last")

    base = replayed(tmp_path, answer("one", later_ns=-5_000_000), answer("two", later_ns=-3_000_000))
    trial(tmp_path, base, [changing("last", look), word("two"), word("one")]).run()
    assert [line.removeprefix(base.kernel.cmdline).strip() for line in seen[:2]] == ["", "one two"]


def test_a_technique_is_told_what_the_baseline_measured_and_what_an_audit_found(tmp_path: Path) -> None:
    """And of the kernel's configuration, which is that of the kernel it is put on."""
    told: list[Measured] = []

    def look(system: System, measured: Measured) -> System:
        told.append(measured)
        return system.with_cmdline("looked")

    system = replayed(tmp_path)
    (tmp_path / "recorded" / KERNEL_CONFIG).write_text("CONFIG_SMP=y\n")
    result = trial(tmp_path, system, [changing("look", look)], facts={"found": "by an audit"}, stack=False).run()
    (measured,) = told
    assert measured.marks["ready"] == result.baseline.ready_ns
    assert measured.facts["found"] == "by an audit"
    assert measured.initcalls_ns and "bootlab: check ok" in measured.console
    assert measured.kernel_config is not None and measured.kernel_config["SMP"] == "y"


def test_kernels_are_built_once_each_and_counted(tmp_path: Path) -> None:
    """Whoever waits is told which of how many; a word on the command line needs none, and one that fails is a row."""
    told: list[str] = []
    smp, net = ({"kernel.build": rf'"{option}": "n"'} for option in ("SMP", "NET"))
    # Fresh boots find the kernel in the cache: only their command line is another.
    first = {**smp, "kernel.cmdline": r"^(?!.*bootlab\.null)"}
    system = own_kernel(
        replayed(
            tmp_path,
            answer(smp, later_ns=-5_000_000),
            answer(first, build_s=90),
            answer(net, unbuilt="make failed"),
            answer({"kernel.build": '"BUG": "n"'}, build_s=30),
        )
    )
    techniques = [without("SMP"), word("idle"), without("NET"), without("BUG")]
    result = trial(tmp_path, system, techniques, tell=told.append, stack=False).run()
    assert {row.technique: row.verdict.value for row in result.alone} == {
        "without-smp": "shorter",
        "idle": "no difference shown",
        "without-net": "broke it",
        "without-bug": "no difference shown",
    }
    assert "without-net, kernel 2 of 3: make failed" in told
    assert (result.cost.built, result.cost.build_s) == (2, 90 + 30)


def test_a_technique_that_learns_is_given_what_a_boot_of_its_own_printed(tmp_path: Path) -> None:
    given, booted = list[Measured](), Booted()

    def take(system: System, measured: Measured) -> System:
        given.append(measured)
        return system.with_cmdline("learned")

    one = word("learned")
    change = replace(one.change, apply=take, learning=lambda system: system.with_cmdline("learning"))
    result = trial(tmp_path, replayed(tmp_path), [replace(one, change=change)], watcher=booted, stack=False).run()
    assert [row.technique for row in result.alone] == ["learned"]
    # Once, however often the technique is put on the same system.
    assert [label for label in booted.labels if label.startswith("learning-")] == ["learning-learned-1"]
    assert booted.systems["learning-learned-1"].kernel.cmdline.endswith(" learning")
    assert given and all(one.facts for one in given)


def test_a_boot_that_was_to_learn_and_is_not_well_says_why_its_technique_does_not_apply(tmp_path: Path) -> None:
    one = word("learned")
    change = replace(one.change, learning=lambda system: system.with_cmdline("learning"))
    system = replayed(tmp_path, answer("learning", end="check failed"))
    (row,) = trial(tmp_path, system, [replace(one, change=change)], stack=False).run().alone
    assert row.verdict.value == "does not apply"
    assert row.detail.startswith("the boot that was to learn: check failed: ")
