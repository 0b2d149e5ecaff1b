"""Make no BSD-style pseudo terminals."""

from bootlab.system import System
from bootlab.techniques.cmdline import kernel_words
from bootlab.techniques.evidence import fact_falls
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _has_them(system: System, measured: Measured) -> str | None:
    config = measured.kernel_config
    if config and config.get("LEGACY_PTYS") != "y":
        return "the kernel has no legacy ptys (CONFIG_LEGACY_PTYS)"
    return None if measured.facts.get("legacy_ptys") != "0" else "the kernel makes none"


TECHNIQUE = kernel_words(
    name="cmdline_no_legacy_ptys",
    words="pty.legacy_count=0",
    summary="makes no legacy pseudo terminals: programs have used /dev/pts since 1998",
    mechanism=(
        "With CONFIG_LEGACY_PTYS the kernel makes up to 256 pairs of BSD-style terminals at start, each a device of "
        "which udev is told, and each of which it looks up in all of its rules."
    ),
    cost="a program that opens /dev/ptyp0 finds none",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "2 s of full and perceived boot time, for 256 of them",
            "Frederic Crozat, Improving boot time on a general Linux distribution, September 2008 (Mandriva 2009)",
        ),
    ),
    prove=fact_falls("legacy_ptys"),
    applies=_has_them,
    removes=Removes("making of legacy pseudo terminals", functions=("legacy_pty_init",)),
)
