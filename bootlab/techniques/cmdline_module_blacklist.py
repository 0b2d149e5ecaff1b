"""Refuse modules that an audit saw loaded for nothing."""

from bootlab.system import System
from bootlab.techniques.cmdline import measured_words
from bootlab.techniques.evidence import modules_refused
from bootlab.techniques.technique import Measured, Risk, Source

FACT = "audit_idle_modules"
"""Modules that were loaded and did nothing up to ready, as `bootlab audit` found."""


def _words(system: System, measured: Measured) -> str | None:
    names = measured.facts.get(FACT, "").split()
    return f"module_blacklist={','.join(names)}" if names else None


TECHNIQUE = measured_words(
    name="cmdline_module_blacklist",
    knob="module_blacklist=MODULE,...",
    words=_words,
    missing="no audit said which modules are loaded for nothing: bootlab try --audit RUN, of bootlab audit",
    summary="lets the kernel refuse those modules that the audited boot loaded and made no use of",
    mechanism=(
        "A module is read, checked, linked and initialised whether or not anything will use it; some test algorithms "
        "or make devices, which udev is then told of. A refused one costs a failed system call."
    ),
    cost="what would use these modules after ready finds them refused, until the word is taken off",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "2 s, floppy alone, where there is no drive",
            "Frederic Crozat, Improving boot time on a general Linux distribution, September 2008 (Mandriva 2009)",
        ),
    ),
    prove=modules_refused,
)
