"""A stranger's technique stands beside bootlab's own; whatever is wrong with it costs its own file, and is named."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.extensions.broken import forget_broken, noted
from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue, outside_techniques, require_techniques
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.techniques.model.technique import Technique

NOTHING = Measured({}, {}, {}, "")
EVIDENCE = Evidence({}, {}, {}, "", None)
ROW = """
from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.model.evidence import Proof
from bootlab.techniques.model.proofs import line_appears
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

TEXT = Text(
    "stops what nobody needs at all",
    "What is stopped is no longer executed, which a boot that executes it pays for with its time.",
    "what is stopped is gone", Risk.FUNCTION, (none_published("nowhere"),),
)
TECHNIQUES = (Technique("cmdline_stranger", TEXT, kernel_words("stranger=1"), line_appears("a stranger")),)
"""


@pytest.fixture(autouse=True)
def nothing_noted() -> Iterator[None]:
    forget_broken()
    yield
    forget_broken()


def extension(folder: Path, more: str = "", file: str = "cmdline/ours.py") -> Path:
    path = folder / "techniques" / file
    path.parent.mkdir(parents=True)
    path.write_text(ROW + more)
    return folder


def stranger(folder: Path) -> Technique:
    return require_techniques(load_catalogue((folder,)), ["cmdline_stranger"])[0]


def test_it_stands_beside_the_others_and_is_known_by_its_file(tmp_path: Path, system: System) -> None:
    folder = extension(tmp_path)
    assert len(load_catalogue((folder,))) == len(load_catalogue()) + 1
    assert stranger(folder).change.apply(system, NOTHING).kernel.cmdline.endswith(" stranger=1")
    assert [*outside_techniques((folder,))] == ["cmdline_stranger"]
    assert len(outside_techniques((folder,))["cmdline_stranger"]) == 64
    assert not noted()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("TECHNIQUES = ()", "TECHNIQUES: expected a tuple of Technique, got an empty one"),
        ("del TECHNIQUES", "TECHNIQUES: expected a tuple of Technique, got NoneType"),
        ("TECHNIQUES = [*TECHNIQUES]", "TECHNIQUES: expected a tuple of Technique, got list"),
        ("TECHNIQUES += TECHNIQUES", "cmdline_stranger: name: there are 2 techniques of this name"),
        (
            "TECHNIQUES = (Technique('cmdline_quiet', TEXT, TECHNIQUES[0].change, TECHNIQUES[0].proof),)",
            "cmdline_quiet: name: there is a technique of this name already",
        ),
        (
            "TECHNIQUES = (Technique('kernel_x', TEXT, TECHNIQUES[0].change, TECHNIQUES[0].proof),)",
            "kernel_x: name: 'kernel_x' is not cmdline_<what>, as its folder has it",
        ),
        ("TECHNIQUES = (Technique('cmdline_stranger', None, None, None),)", "TECHNIQUES: "),
    ],
)
def test_what_the_catalogue_refuses_is_left_out_and_named(more: str, why: str, tmp_path: Path) -> None:
    folder = extension(tmp_path, more)
    assert load_catalogue((folder,)) == load_catalogue()
    (one,) = noted()
    assert one.where == str(folder / "techniques/cmdline/ours.py")
    assert one.why.startswith(why)


def test_a_technique_elsewhere_than_in_a_layer_is_refused(tmp_path: Path) -> None:
    assert load_catalogue((extension(tmp_path, file="ours.py"),)) == load_catalogue()
    assert "techniques stand in a file of their layer's folder" in noted()[0].why


FAILING = """
def fail(*given):
    raise ZeroDivisionError("on purpose")

TECHNIQUES = (
    Technique("cmdline_stranger", TEXT, Change(Layer.CMDLINE, "x", {apply}, {applies}), Proof({prove})),
)
"""
PUT_IN = "lambda system, measured: "


def test_a_change_that_fails_does_not_apply(tmp_path: Path, system: System) -> None:
    folder = extension(tmp_path, FAILING.format(apply="fail", applies="fail", prove="fail"))
    technique = stranger(folder)
    file = folder / "techniques/cmdline/ours.py"
    reason = technique.change.applies(system, NOTHING)
    assert reason is not None and reason.startswith(f"{file}: applies fails: line ")
    with pytest.raises(InputError, match=r"apply fails: line \d+: ZeroDivisionError: on purpose"):
        technique.change.apply(system, NOTHING)
    assert technique.proof.prove(EVIDENCE, EVIDENCE) is Effect.NOT_SHOWN
    assert [one.why.split(":")[1].strip() for one in noted()] == ["applies fails", "apply fails", "prove fails"]


def test_a_change_to_something_else_than_a_system_does_not_apply(tmp_path: Path, system: System) -> None:
    folder = extension(tmp_path, FAILING.format(apply=f"{PUT_IN}None", applies=f"{PUT_IN}None", prove=f"{PUT_IN}'yes'"))
    technique = stranger(folder)
    with pytest.raises(InputError, match="apply returned NoneType, expected a System"):
        technique.change.apply(system, NOTHING)
    assert technique.proof.prove(EVIDENCE, EVIDENCE) is Effect.NOT_SHOWN
    assert len(noted()) == 2
