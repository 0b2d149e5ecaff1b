"""Do not wait for a key before booting."""

from bootlab.techniques.bootloader import console_changes, options_applies, with_bootloader_options
from bootlab.techniques.technique import Layer, Removes, Risk, Source, Technique

_OPTIONS = {"BOOTDELAY": "0"}

TECHNIQUE = Technique(
    name="bootloader_no_delay",
    layer=Layer.BOOTLOADER,
    summary="lets U-Boot boot at once, without counting down for somebody to press a key",
    mechanism=(
        "Before it boots, U-Boot waits BOOTDELAY seconds, two by default, for a key that would stop it. With 0 it "
        "looks once whether one was pressed."
    ),
    knob="bootloader.options: BOOTDELAY=0",
    cost="to reach U-Boot's prompt a key must be held down while it starts",
    risk=Risk.NONE,
    sources=(Source("none published", "U-Boot 2025.01, boot/Kconfig: BOOTDELAY is 2 by default, in seconds"),),
    apply=with_bootloader_options(lambda system: _OPTIONS),
    prove=console_changes(r"Hit any key to stop autoboot: +(\d+)", "0"),
    applies=options_applies(lambda system: _OPTIONS),
    removes=Removes("U-Boot's wait for a key", functions=("autoboot_command/udelay [U-Boot]",)),
)
