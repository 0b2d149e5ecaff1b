"""Switch the camera's power on in the bootloader's first stage."""

from bootlab.system import System
from bootlab.techniques.evidence import fact_falls
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique


def _applies(system: System, measured: Measured) -> str | None:
    model = system.board_model
    if model is None or not model.camera_ms:
        return "no camera that takes time to enumerate (board_model.camera_ms)"
    if model.camera_power == "spl":
        return "the bootloader's first stage powers the camera already"
    return None if system.bootloader is not None else "the bootloader is not built here"


TECHNIQUE = Technique(
    name="bootloader_camera_power",
    layer=Layer.BOOTLOADER,
    summary="lets SPL switch on the power of the camera's port, so that it enumerates while all else boots",
    mechanism=(
        "A USB camera needs a second and more from power to its first descriptor, and nobody can make it hurry. "
        "Powered when its driver starts, that second comes after the kernel's; powered by SPL it passes during it."
    ),
    knob='board_model.camera_power = "spl"',
    cost="the bootloader must know the board's power switch for that port",
    risk=Risk.NONE,
    sources=(
        Source(
            "1.2 s of waiting for the USB camera, unsolved",
            "M. Opdenacker, Bootlin, ELCE 2019: 'Any way around this USB asynchronousness issue?'",
        ),
    ),
    apply=lambda system, measured: system.with_part("board_model", camera_power="spl"),
    prove=fact_falls("board_model.camera_powered_us"),
    applies=_applies,
)
