"""Build without the profiler's hooks."""

from bootlab.techniques.build_options import off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_profiling_off",
    options=off("PROFILING"),
    summary="builds without the hooks of system profilers",
    mechanism=(
        "The old profiler's buffer and its call in every tick are left out; performance counters stay "
        "where the architecture wants them."
    ),
    cost="no profile= on the command line",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED,
            (
                'row "AUDIT, BPF, KALLSYMS, DEBUG_FS, FTRACE, PROFILING" of published configurations; no '
                "isolated figure read"
            ),
        ),
    ),
)
