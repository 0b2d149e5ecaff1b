"""Give programs futexes and threads."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_futex",
    options={
        "FUTEX": "y",
        "EPOLL": "y",
        "EVENTFD": "y",
        "SIGNALFD": "y",
        "TIMERFD": "y",
        "POSIX_TIMERS": "y",
        "ADVISE_SYSCALLS": "y",
        "MEMBARRIER": "y",
        "FILE_LOCKING": "y",
        "MULTIUSER": "y",
    },
    gates={"EXPERT": "y"},
    summary="gives programs the system calls of a usual run-time: futexes, epoll, timers, users, file locks",
    mechanism=(
        "Runtimes such as Go's wait on futexes and epoll: without them the first thread that waits ends "
        "in ENOSYS, as the author of the 2024 microVM found."
    ),
    cost="a hash table for futexes, caches and inodes of a few pseudo files",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
