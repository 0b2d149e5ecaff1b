"""Build without machine check reports."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_mce_off",
    options=off("X86_MCE"),
    gates=off("INTEL_TDX_GUEST", "ACPI_APEI", "RAS_CEC"),
    arch=("x86_64",),
    summary="builds without the reporting of hardware errors",
    mechanism=(
        "Banks of each CPU are initialised and cleared through model-specific registers, each of which a "
        "hypervisor must emulate; devices and a pool follow in initcalls."
    ),
    cost="hardware errors are not reported; for virtual machines",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel without it; no isolated figure"),),
    shows=initcalls_gone("mcheck_init_device"),
    removes=Removes(
        "machine checks",
        functions=(
            "mcheck_cpu_init",
            "mcheck_init",
            "mcheck_init_device",
            "mcheck_late_init",
        ),
    ),
)
