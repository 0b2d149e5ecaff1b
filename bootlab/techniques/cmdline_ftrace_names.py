"""Do not check the names of traceable functions."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, ran
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_ftrace_names",
    words="initcall_blacklist=ftrace_check_for_weak_functions",
    summary="does not check which traceable functions were overridden at link time",
    mechanism=(
        "ftrace_check_for_weak_functions() looks up the symbol of each of some 40,000 function entries to "
        "find those that a weak symbol left behind, in a worker thread that competes with the other "
        "initcalls."
    ),
    cost="available_filter_functions lists some functions under the name of their predecessor",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED,
            "K612: Linux 6.12.117 source, kernel/trace/ftrace.c; found in the profile of a measured boot",
        ),
    ),
    prove=never_runs("ftrace_check_for_weak_functions"),
    applies=ran("ftrace_check_for_weak_functions"),
    watch=("ftrace_check_for_weak_functions",),
    removes=Removes(
        "checking of the names of traceable functions",
        functions=("ftrace_check_for_weak_functions", "ftrace_check_work_func"),
    ),
)
