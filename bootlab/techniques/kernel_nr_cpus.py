"""Build for at most eight CPUs."""

from bootlab.system import System
from bootlab.techniques.build_options import LINUX_612, off, option_technique, option_value
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Measured, Risk, Source

_MOST = 8


def _many(system: System, measured: Measured) -> str | None:
    if system.machine.vcpus > _MOST:
        return f"the machine has {system.machine.vcpus} vCPUs"
    built = option_value(system, measured, "NR_CPUS")
    return f"NR_CPUS is {built} already" if built is not None and built.isdigit() and int(built) <= _MOST else None


TECHNIQUE = option_technique(
    name="kernel_nr_cpus",
    options={"NR_CPUS": "8"},
    gates=off("MAXSMP"),
    needs=("SMP",),
    summary="builds for at most 8 CPUs instead of hundreds or thousands",
    mechanism=(
        "Bit masks, per-CPU tables and the areas set aside for CPUs that could appear have a fixed size "
        "of NR_CPUS, and loops go over all of them."
    ),
    cost="CPUs beyond the eighth are not used",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, arch/x86/Kconfig"),),
    applies=_many,
)
