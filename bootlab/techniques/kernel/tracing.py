"""Tracers, profilers and the names of functions that they need."""

from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.proofs import initcalls_gone
from bootlab.techniques.model.published import AGNOS, BOOTLIN_2019, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

TECHNIQUES = (
    rebuilt_kernel(
        "kernel_ftrace_off",
        Text(
            summary="builds without tracers and the files that control them",
            mechanism=(
                "tracer_init_tracefs() makes thousands of files for events, early initialisation allocates "
                "ring buffers and reads the event tables of every subsystem, and each traced function "
                "begins with a patched call."
            ),
            cost=(
                "no ftrace, no kprobe or uprobe events, no perf trace points, no live patches; no security policies "
                "in BPF"
            ),
            risk=Risk.SECURITY,
            published=(
                Published("about -550 ms of boot time, -217 KB of kernel", BOOTLIN_2019),
                Published("-100 to -200 ms with other debugging (SDM845)", AGNOS),
            ),
        ),
        WantedOptions(off("FTRACE")),
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
    ),
    rebuilt_kernel(
        "kernel_kallsyms_off",
        Text(
            summary="builds without the kernel's table of its own symbols",
            mechanism=(
                "The compressed names of all functions are a large part of a small image, to be loaded and "
                "unpacked; tracing by name goes with them."
            ),
            cost="addresses instead of names in a crash; no kprobes, no function tracing and no live patches",
            risk=Risk.FUNCTION,
            published=(
                Published("-107 KB (-5.7 %) of compressed kernel; part of -190 ms with PRINTK and BUG", BOOTLIN_2019),
            ),
        ),
        WantedOptions(
            off("KALLSYMS"),
            gates={
                "EXPERT": "y",
                **off(
                    "KALLSYMS_ALL",
                    "STACK_TRACER",
                    "FTRACE_SYSCALLS",
                    "KPROBES",
                    "FUNCTION_TRACER",
                    "LATENCYTOP",
                    "LIVEPATCH",
                    "DEBUG_KMEMLEAK",
                    "LOCKDEP",
                    "PROVE_LOCKING",
                    "LOCK_STAT",
                ),
            },
        ),
        shows=initcalls_gone("kallsyms_init"),
        removes=Removes("files of the symbol table", functions=("kallsyms_init",)),
    ),
    rebuilt_kernel(
        "kernel_profiling_off",
        Text(
            summary="builds without the hooks of system profilers",
            mechanism=(
                "The old profiler's buffer and its call in every tick are left out; performance counters "
                "stay where the architecture wants them."
            ),
            cost="no profile= on the command line",
            risk=Risk.FUNCTION,
            published=(
                none_published(
                    'row "AUDIT, BPF, KALLSYMS, DEBUG_FS, FTRACE, PROFILING" of published configurations; no '
                    "isolated figure read"
                ),
            ),
        ),
        WantedOptions(off("PROFILING")),
        shows=initcalls_gone("create_proc_profile"),
    ),
)
