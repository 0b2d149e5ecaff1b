"""Devices that the first stage can wake while all else boots: a camera's power."""

from bootlab.system import System
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_falls
from bootlab.techniques.model.published import Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text


def _has_a_slow_camera(system: System, measured: Measured) -> str | None:
    model = system.board_model
    if model is None or not model.camera_ms:
        return "no camera that takes time to enumerate (board_model.camera_ms)"
    if model.camera_power == "spl":
        return "the bootloader's first stage powers the camera already"
    return None if system.bootloader is not None else "the bootloader is not built here"


TECHNIQUES = (
    Technique(
        name="bootloader_camera_power",
        text=Text(
            summary="lets SPL switch on the power of the camera's port, so that it enumerates while all else boots",
            mechanism=(
                "A USB camera needs a second and more from power to its first descriptor, and nobody can "
                "make it hurry. Powered when its driver starts, that second comes after the kernel's; "
                "powered by SPL it passes during it."
            ),
            cost="the bootloader must know the board's power switch for that port",
            risk=Risk.NONE,
            published=(
                Published(
                    "1.2 s of waiting for the USB camera, unsolved",
                    "M. Opdenacker, Bootlin, ELCE 2019: 'Any way around this USB asynchronousness issue?'",
                ),
            ),
        ),
        change=Change(
            Layer.BOOTLOADER,
            'board_model.camera_power = "spl"',
            lambda system, measured: system.with_part("board_model", camera_power="spl"),
            _has_a_slow_camera,
        ),
        proof=fact_falls("board_model.camera_powered_us"),
    ),
)
