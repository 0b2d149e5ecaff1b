"""The first picture from the first process there is, and not from a service of the root."""

from typing import Final

from bootlab.techniques.changes.init_program import runs_as_init, starts_offered
from bootlab.techniques.model.published import KATO_2016, none_published
from bootlab.techniques.model.technique import Layer, Risk, Technique, Text

PICTURE_INIT: Final = "/sbin/init-picture"
"""Where a system file offers its program: `"/sbin/init-picture" = "my-program"` in [initramfs.files]."""


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
        change=starts_offered(Layer.INITRAMFS, PICTURE_INIT, "program"),
        proof=runs_as_init(PICTURE_INIT),
    ),
)
