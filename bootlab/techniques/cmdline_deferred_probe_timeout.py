"""Do not wait for suppliers of devices that never come."""

from bootlab.system import System
from bootlab.techniques.build_options import is_on, known
from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.technique import Evidence, Measured, Proof, Risk, Source


def _says_nothing(after: Evidence, before: Evidence) -> Proof:
    # drivers/base/dd.c keeps the timeout to itself, and what it changes is what does not happen ten seconds later.
    return Proof.NOT_SHOWN


def _modules_could_bring_them(system: System, measured: Measured) -> str | None:
    if known(system, measured) and not is_on(system, measured, "MODULES"):
        return "a kernel without modules does not wait (drivers/base/dd.c)"
    return None


TECHNIQUE = kernel_words(
    name="cmdline_deferred_probe_timeout",
    words="deferred_probe_timeout=0",
    summary="gives up deferred probes at the end of the initcalls",
    mechanism=(
        "A device whose supplier has no driver is probed again and again for ten seconds, because a module might bring "
        "one. With no timeout such devices probe without it, or fail, as soon as the initcalls are over."
    ),
    cost="a device whose supplier is driven by a module that loads later does not work",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, "K612: Linux 6.12.117 source, drivers/base/dd.c:260"),),
    prove=_says_nothing,
    applies=_modules_could_bring_them,
)
