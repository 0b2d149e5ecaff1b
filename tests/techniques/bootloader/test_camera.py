"""The camera's power, switched on by the bootloader's first stage."""

from collections.abc import Callable

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING

Make = Callable[..., Evidence]


def test_the_camera_is_powered_by_the_first_stage(camera: System, system: System, evidence: Make) -> None:
    technique = ALL["bootloader_camera_power"]
    assert "no camera that takes time" in (technique.change.applies(camera, NOTHING) or "")
    assert "no camera that takes time" in (technique.change.applies(system, NOTHING) or "")
    slow = camera.with_part("board_model", camera_ms=1200)
    assert technique.change.applies(slow, NOTHING) is None
    changed = technique.change.apply(slow, NOTHING)
    assert changed.board_model is not None and changed.board_model.camera_power == "spl"
    assert "already" in (technique.change.applies(changed, NOTHING) or "")
    early, late = (evidence(**{"board_model.camera_powered_us": at}) for at in ("10", "273811"))
    assert technique.proof.prove(early, late) is Effect.PROVEN
    assert technique.proof.prove(late, late) is Effect.NONE
