"""Do not translate the symbols in trace events."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, ran
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_trace_events",
    words="initcall_blacklist=trace_eval_init",
    summary="leaves names of constants in trace event formats untranslated",
    mechanism=(
        "trace_eval_init() walks the print format of every trace event in the kernel, searching it for every "
        "enum and sizeof that was exported, and replaces each by its number. It runs in a worker thread, but "
        "one CPU has to do it all the same."
    ),
    cost="formats below /sys/kernel/tracing/events hold names where tools such as perf expect numbers",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED,
            "K612: Linux 6.12.117 source, kernel/trace/trace.c; found in the initcall table of a measured boot",
        ),
    ),
    prove=never_runs("trace_eval_init"),
    applies=ran("trace_eval_init"),
    watch=("trace_eval_init",),
    removes=Removes(
        "translation of constants in trace events",
        functions=("trace_eval_init", "eval_map_work_func", "trace_event_eval_update"),
    ),
)
