"""Build only the system calls that a small system needs."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_embedded_syscalls",
    options=off(
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
        "EVENTFD": ("MEMCG", "KVM_COMMON", "VFIO_VIRQFD"),
        "KCMP": ("DRM", "CHECKPOINT_RESTORE"),
    },
    summary="leaves out the system calls that a small system of known programs does not use",
    mechanism=(
        "Each has its caches, pseudo file systems, sysctl tables and initcalls: asynchronous I/O, "
        "io_uring, signalfd, timerfd, eventfd, epoll, System V IPC, message queues and a dozen rarer "
        "ones. The kernel is smaller too."
    ),
    cost="a program that uses one of them gets ENOSYS: the Go and Java runtimes need epoll and eventfd",
    risk=Risk.FUNCTION,
    sources=(Source("-34 ms of total boot time, -51 KB of compressed kernel", BOOTLIN_2019),),
    shows=initcalls_gone("eventpoll_init", "ipc_init", "aio_setup"),
    removes=Removes(
        "system calls that small systems do not use",
        functions=("eventpoll_init", "ipc_init", "aio_setup", "io_uring_init", "userfaultfd_init", "init_mqueue_fs"),
    ),
)
