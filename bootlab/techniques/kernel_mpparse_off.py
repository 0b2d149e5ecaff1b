"""Build without the MP table."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_mpparse_off",
    options=off("X86_MPPARSE"),
    needs=("ACPI",),
    arch=("x86_64",),
    summary="builds without the search for the table by which old PCs describe their CPUs",
    mechanism=(
        "The first megabyte is searched for a signature in steps of 16 bytes; with ACPI nothing in the table is wanted."
    ),
    cost="the kernel does not boot with several CPUs or an I/O APIC where there is no ACPI",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, arch/x86/Kconfig"),),
    shows=never_runs("mpparse_find_mptable"),
    watch=("mpparse_find_mptable",),
    removes=Removes(
        "search for the MP table",
        functions=(
            "mpparse_find_mptable",
            "smp_scan_config",
            "mpparse_get_smp_config",
            "mpparse_parse_smp_config",
            "mpparse_parse_early_smp_config",
        ),
    ),
)
