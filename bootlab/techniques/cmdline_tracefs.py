"""Do not fill the tracing file system."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, ran
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_tracefs",
    words="initcall_blacklist=tracer_init_tracefs",
    summary="does not fill the tracing file system",
    mechanism=(
        "tracer_init_tracefs() makes a directory for each trace event, with several files in each on kernels before "
        "eventfs (Linux 6.6), and the files that control tracing."
    ),
    cost="nothing below /sys/kernel/tracing: no ftrace and no tracepoints for perf until another boot",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, "K612: Linux 6.12.117 source, kernel/trace/trace.c"),),
    prove=never_runs("tracer_init_tracefs"),
    applies=ran("tracer_init_tracefs"),
    watch=("tracer_init_tracefs",),
    removes=Removes(
        "filling of the tracing file system", functions=("tracer_init_tracefs", "tracer_init_tracefs_work_func")
    ),
)
