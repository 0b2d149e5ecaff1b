"""Let SPL say nothing."""

from bootlab.techniques.bootloader import console_loses, not_built, options_applies, with_bootloader_options
from bootlab.techniques.technique import Layer, Risk, Source, Technique

_OPTIONS = {"SPL_BANNER_PRINT": "n"}


TECHNIQUE = Technique(
    name="bootloader_no_banner",
    layer=Layer.BOOTLOADER,
    summary="lets SPL start without saying who it is",
    mechanism=(
        "SPL's first line is written before anything is loaded, one character after the other, by a CPU that waits "
        "for the line: 87 microseconds each at 115200 baud."
    ),
    knob="bootloader.options: SPL_BANNER_PRINT=n",
    cost="nothing on the console says that SPL started, or which build it is",
    risk=Risk.NONE,
    sources=(Source("none published", "U-Boot 2025.01, common/spl/spl.c: preloader_console_init()"),),
    apply=with_bootloader_options(lambda system: _OPTIONS),
    prove=console_loses(r"(?m)^U-Boot SPL \d"),
    applies=options_applies(lambda system: _OPTIONS, not_built),
)
