"""Build without tracers."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_ftrace_off",
    options=off("FTRACE"),
    summary="builds without tracers and the files that control them",
    mechanism=(
        "tracer_init_tracefs() makes thousands of files for events, early initialisation allocates ring "
        "buffers and reads the event tables of every subsystem, and each traced function begins with a "
        "patched call."
    ),
    cost="no ftrace, no kprobe or uprobe events, no perf trace points",
    risk=Risk.FUNCTION,
    sources=(
        Source("about -550 ms of boot time, -217 KB of kernel", BOOTLIN_2019),
        Source("-100 to -200 ms with other debugging (SDM845)", "COM: commaai/agnos-builder issue 216"),
    ),
    shows=initcalls_gone("tracer_init_tracefs"),
    removes=Removes(
        "setting up of tracers",
        functions=(
            "early_trace_init",
            "init_events",
            "trace_init",
            "ftrace_init",
            "ftrace_check_for_weak_functions",
            "tracer_init_tracefs",
            "trace_eval_init",
            "event_trace_init",
            "init_kprobe_trace",
            "init_blk_tracer",
            "init_trace_printk_function_export",
        ),
    ),
)
