"""Do not start the units that an audit found the goal does not need."""

from bootlab.system import System
from bootlab.techniques.cmdline import measured_words
from bootlab.techniques.evidence import fact_is
from bootlab.techniques.technique import Measured, Risk, Source

FACT = "audit_needless_units"
"""Services that the boot's goal needs neither directly nor through others, as `bootlab audit` found."""


def _words(system: System, measured: Measured) -> str | None:
    units = measured.facts.get(FACT, "").split()
    return " ".join(f"systemd.mask={unit}.service" for unit in units) if units else None


TECHNIQUE = measured_words(
    name="cmdline_units_masked",
    knob="systemd.mask=UNIT.service ...",
    words=_words,
    missing="no audit said which units the goal does not need: bootlab try --audit RUN, of bootlab audit",
    summary="lets systemd start only those services that the goal of the audited boot needs or waits for",
    mechanism=(
        "A service that the goal does not wait for takes the processor and the disk from those that it does. Masked on "
        "the command line (systemd-debug-generator) it is not there for this boot; nothing on the disk changes."
    ),
    cost="these services do not run at all: start them after ready instead, where the product needs them",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "3 s for harddrake and 2 to 4 s for dkms, moved out of the parallel start",
            "Frederic Crozat, Improving boot time on a general Linux distribution, September 2008 (Mandriva 2009)",
        ),
    ),
    prove=fact_is("units_masked", r"\.service"),
)
