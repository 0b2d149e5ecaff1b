"""The first picture from the first process there is, and not from a service of the root."""

from typing import Final

from bootlab.system import System
from bootlab.techniques.changes.command_line import has_words
from bootlab.techniques.changes.init_program import runs_as_init
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.published import KATO_2016, none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

PICTURE_INIT: Final = "/sbin/init-picture"
"""Where a system file offers its program: `"/sbin/init-picture" = "my-program"` in [initramfs.files]."""
_WORDS: Final = f"rdinit={PICTURE_INIT}"


def _offers_a_program(system: System, measured: Measured) -> str | None:
    if any(word.startswith("rdinit=") for word in system.kernel.cmdline.split()) or has_words(system, _WORDS):
        return "the command line has rdinit= already"
    if system.initramfs is None or system.initramfs.file_at(PICTURE_INIT) is None:
        return f"the system file offers no program as {PICTURE_INIT} in initramfs.files"
    return None


TECHNIQUES = (
    Technique(
        name="initramfs_opening_picture",
        text=Text(
            summary="has the first process of the initramfs paint the opening picture, beside all that follows",
            mechanism=(
                "Who looks at a screen sees that the machine starts as soon as the display's driver is there, and not "
                "only when the root is mounted, devices are made and a service is started. The program loads the "
                "display's modules ahead of all others, leaves the painting to a process of its own and becomes /init."
            ),
            cost=(
                "the boot is longer by what the painting executes; the program has to fit to the display's driver and "
                "to the list of modules"
            ),
            risk=Risk.NONE,
            published=(none_published(f"{KATO_2016}: an opening picture is part of system init, ahead of services"),),
        ),
        change=Change(
            Layer.INITRAMFS,
            f'{_WORDS} on the command line, with "{PICTURE_INIT}" = PROGRAM in initramfs.files',
            lambda system, measured: system.with_cmdline(_WORDS),
            _offers_a_program,
        ),
        proof=runs_as_init(PICTURE_INIT),
    ),
)
