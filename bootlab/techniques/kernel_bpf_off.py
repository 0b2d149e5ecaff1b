"""Build without the bpf() system call."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_bpf_off",
    options=off("BPF_SYSCALL"),
    gates=off("DEBUG_INFO_BTF", "BPF_PRELOAD", "BPF_LSM", "AF_KCM"),
    summary="builds without BPF programs loaded from user space, and their type information",
    mechanism=(
        "The verifier, its iterators and the type information of the whole kernel are set up in "
        "initcalls; the type information alone is megabytes of the image."
    ),
    cost="no BPF programs: systemd's firewalling, tracing and some container networks use them",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, kernel/bpf/Kconfig"),),
    shows=initcalls_gone("bpf_init"),
    removes=Removes(
        "BPF and its type information",
        functions=(
            "bpf_init",
            "btf_vmlinux_init",
            "bpf_map_iter_init",
            "task_iter_init",
            "kfunc_init",
            "btf_module_init",
        ),
    ),
)
