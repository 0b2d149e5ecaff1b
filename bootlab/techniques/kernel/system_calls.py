"""What programs can ask of the kernel: system calls that small systems do not use, and BPF."""

from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.proofs import initcalls_gone
from bootlab.techniques.model.published import BOOTLIN_2019, LINUX_612, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

TECHNIQUES = (
    rebuilt_kernel(
        "kernel_embedded_syscalls",
        Text(
            summary="leaves out the system calls that a small system of known programs does not use",
            mechanism=(
                "Each has its caches, pseudo file systems, sysctl tables and initcalls: asynchronous I/O, "
                "io_uring, signalfd, timerfd, eventfd, epoll, System V IPC, message queues and a dozen "
                "rarer ones. The kernel is smaller too."
            ),
            cost="a program that uses one of them gets ENOSYS: the Go and Java runtimes need epoll and eventfd",
            risk=Risk.FUNCTION,
            published=(Published("-34 ms of total boot time, -51 KB of compressed kernel", BOOTLIN_2019),),
        ),
        WantedOptions(
            off(
                "AIO",
                "IO_URING",
                "SIGNALFD",
                "TIMERFD",
                "EVENTFD",
                "EPOLL",
                "MEMBARRIER",
                "RSEQ",
                "KCMP",
                "FHANDLE",
                "ADVISE_SYSCALLS",
                "SYSVIPC",
                "POSIX_MQUEUE",
                "CROSS_MEMORY_ATTACH",
                "SGETMASK_SYSCALL",
                "SYSFS_SYSCALL",
                "USELIB",
                "USERFAULTFD",
                "MODIFY_LDT_SYSCALL",
                "X86_VSYSCALL_EMULATION",
                "X86_IOPL_IOPERM",
                "PCSPKR_PLATFORM",
            ),
            gates={"EXPERT": "y"},
            kept_by={
                "IO_URING": ("BLK_DEV_UBLK",),
                "EVENTFD": ("MEMCG", "KVM_COMMON", "HAVE_KVM_EVENTFD", "VFIO_VIRQFD"),
                "KCMP": ("DRM", "CHECKPOINT_RESTORE"),
            },
        ),
        shows=initcalls_gone("eventpoll_init", "ipc_init", "aio_setup"),
        removes=Removes(
            "system calls that small systems do not use",
            functions=(
                "eventpoll_init",
                "ipc_init",
                "aio_setup",
                "io_uring_init",
                "userfaultfd_init",
                "init_mqueue_fs",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_bpf_off",
        Text(
            summary="builds without BPF programs loaded from user space, and their type information",
            mechanism=(
                "The verifier, its iterators and the type information of the whole kernel are set up in "
                "initcalls; the type information alone is megabytes of the image."
            ),
            cost=(
                "no BPF programs: systemd's limits of services to addresses and devices, security policies, tracing "
                "and some container networks are such"
            ),
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, kernel/bpf/Kconfig"),),
        ),
        WantedOptions(off("BPF_SYSCALL"), gates=off("DEBUG_INFO_BTF", "BPF_PRELOAD", "BPF_LSM", "AF_KCM")),
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
    ),
)
