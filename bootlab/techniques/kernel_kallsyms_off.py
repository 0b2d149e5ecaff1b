"""Build without the table of symbols."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_kallsyms_off",
    options=off("KALLSYMS"),
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
    summary="builds without the kernel's table of its own symbols",
    mechanism=(
        "The compressed names of all functions are a large part of a small image, to be loaded and "
        "unpacked; tracing by name goes with them."
    ),
    cost="addresses instead of names in a crash; no kprobes and no function tracing",
    risk=Risk.FUNCTION,
    sources=(Source("-107 KB (-5.7 %) of compressed kernel; part of -190 ms with PRINTK and BUG", BOOTLIN_2019),),
    shows=initcalls_gone("kallsyms_init"),
    removes=Removes("files of the symbol table", functions=("kallsyms_init",)),
)
