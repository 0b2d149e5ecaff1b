"""A life of a disk image: a boot whose writes are kept, which ends when its power button was pressed.

On the virtual clock that is at a moment of the clock, so a life can be lived again to the last byte: the plugin has the
machine stand still there, and QMP presses the button before it goes on. A timed mark itself comes from QEMU's timers,
which hold the lock that its main thread needs to stop a machine; the first instruction of a program after it does not.

    plugin: at NS life_s; user life_over life_s; pause life_over        QMP: system_powerdown, cont
"""

import shutil
from pathlib import Path
from typing import Final

from qemu.qmp import QMPClient, QMPError

from bootlab.errors import BootFailed, InputError
from bootlab.process import run
from bootlab.system import Attachment, BootFiles, ClockKind, System

_IMAGE: Final = "image.qcow2"
_VARIABLES: Final = "variables.fd"
_DUE: Final = "life_s"
_OVER: Final = "life_over"
_OTHERWISE: Final = ("stop", "user")
"""What a boot is told and a life is not: to end when it is ready, and which program comes first."""


def expect_lives(system: System, files: BootFiles) -> None:
    """Raise InputError for a system that has no disk on which a life could leave anything."""
    if system.image is None or files.image_format == "efi" or system.image.attach is Attachment.CD:
        raise InputError(
            "image.life: a machine has lives where it boots from a disk that keeps what it writes",
            hint="a disk image, raw or qcow2, has them",
        )


def make_room(files: BootFiles, folder: Path) -> BootFiles:
    """Return the files that a life changes, made in `folder`: an overlay of the image, UEFI's variables."""
    assert files.image is not None
    argv: list[str | Path] = ["qemu-img", "create", "-q", "-f", "qcow2", "-b", files.image, "-F", files.image_format]
    run([*argv, folder / _IMAGE], package="qemu-utils")
    if files.firmware_variables is not None:
        shutil.copyfile(files.firmware_variables, folder / _VARIABLES)
    return left_by(files, folder)


def left_by(files: BootFiles, folder: Path) -> BootFiles:
    """Return the files of a boot that comes after a life, which left its own in `folder`."""
    changed: dict[str, object] = {"image": folder / _IMAGE, "image_format": "qcow2"}
    if files.firmware_variables is not None:
        changed["firmware_variables"] = folder / _VARIABLES
    return files.model_copy(update=changed)


def life_config(config: str, over_ns: int) -> str:
    """Return what the plugin is told of a life, from what it is told of a boot: it does not end at ready."""
    lines = [line for line in config.splitlines() if line.split(" ", 1)[0] not in _OTHERWISE]
    lines += [f"at {over_ns} {_DUE}", f"user {_OVER} {_DUE}", f"pause {_OVER}"]
    return "".join(f"{line}\n" for line in lines)


async def press_power_button(qmp: QMPClient, clock: ClockKind) -> None:
    """Press the button of a machine, and let one that stands still go on. Raises BootFailed where it is gone."""
    try:
        await qmp.execute("system_powerdown")
        if clock is ClockKind.VIRTUAL:
            await qmp.execute("cont")
    except (QMPError, OSError) as error:
        raise BootFailed(f"QEMU was lost as its power button was pressed: {error}") from error
