"""How the kernel is compiled: no step undoes what an earlier one asked for."""

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer

KERNEL = {technique.name: technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL}


def test_frame_pointers_do_not_take_thumb2_away(board: System) -> None:
    arm = Measured({}, {}, {}, "", {"UNWINDER_ARM": "y"})
    thumb = KERNEL["kernel_thumb2"].change.apply(board, arm)
    frames = KERNEL["kernel_arm_frame_pointers"].change
    assert frames.applies(board, arm) is None
    assert "THUMB2_KERNEL" in (frames.applies(thumb, arm) or "")
    built = frames.apply(board, arm).kernel.build
    assert built is not None and built.options == {"UNWINDER_FRAME_POINTER": "y", "UNWINDER_ARM": "n"}
