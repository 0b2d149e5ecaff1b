"""Build without memory type ranges."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_mtrr_off",
    options=off("MTRR", "X86_PAT"),
    gates={"EXPERT": "y"},
    arch=("x86_64",),
    summary="builds without the registers that say how memory is cached",
    mechanism=(
        "The ranges set by the firmware are read, printed and copied, and the page attribute table is "
        "programmed with caches off and flushed."
    ),
    cost="device memory cannot be mapped write-combined; graphics are slow",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel without it; no isolated figure"),),
    shows=never_runs("mtrr_bp_init"),
    watch=("mtrr_bp_init",),
    removes=Removes("memory type ranges", functions=("mtrr_bp_init", "mtrr_init_finalize", "pat_cpu_init")),
)
