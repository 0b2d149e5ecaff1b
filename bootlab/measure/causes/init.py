"""Why init did not run, or could not go on: the kernel's error number, and the program that it belongs to.

The kernel prints one number for many causes, so the program itself is looked at: its header says what it needs.
"""

import re
import stat
from dataclasses import dataclass

from bootlab.measure.causes.guest_files import GuestFiles, ProgramHeader, read_program
from bootlab.measure.causes.kernel_options import KernelOptions
from bootlab.system import System

# init/main.c: run_init_process() failed; the number is negative in kernels up to now, a name in some.
_REFUSED = re.compile(
    r"(?:Failed to execute (\S+)|Requested init (\S+) failed|Default init (\S+) failed|Starting init: (\S+) exists but "
    r"couldn't execute it) \(error (-?\d+|E[A-Z]+)\)"
)
_SHELL_REFUSED = re.compile(r"(/[^\s:]+): (Exec format error|not found|No such file or directory)")
_ELF_NAMES = {"armv7": "arm"}
"""Machines of 32 bits -> what their programs' headers say."""
_NAMES = {"-2": "ENOENT", "-8": "ENOEXEC", "-13": "EACCES"}
_NEEDS_FUTEX = (
    "futexwakeup addr=",
    "The futex facility returned an unexpected error code",
)
_FUTEX_ENOSYS = re.compile(r"futex(?:_time64)?\(.*ENOSYS")
_NOT_MOUNTED = re.compile(r"mount: mounting (\S+) on (\S+) failed: No such device")
_FILE_SYSTEMS = {
    "proc": "PROC_FS", "sysfs": "SYSFS", "devtmpfs": "DEVTMPFS", "tmpfs": "TMPFS", "cgroup2": "CGROUPS",
    "cgroup": "CGROUPS", "devpts": "UNIX98_PTYS", "configfs": "CONFIGFS_FS", "debugfs": "DEBUG_FS",
    "tracefs": "TRACING", "bpf": "BPF_SYSCALL", "securityfs": "SECURITYFS",
}  # fmt: skip
# Name in the call's error message -> the option that kernel/sys_ni.c stands in for.
_CALLS = {
    "epoll_create": "EPOLL", "eventfd": "EVENTFD", "signalfd": "SIGNALFD", "timerfd": "TIMERFD",
    "inotify": "INOTIFY_USER", "fanotify": "FANOTIFY", "io_uring": "IO_URING", "io_setup": "AIO",
    "timer_create": "POSIX_TIMERS", "memfd_create": "MEMFD_CREATE", "membarrier": "MEMBARRIER", "rseq": "RSEQ",
    "flock": "FILE_LOCKING", "setgroups": "MULTIUSER", "setuid": "MULTIUSER", "setgid": "MULTIUSER",
    "socket": "NET", "bpf": "BPF_SYSCALL", "userfaultfd": "USERFAULTFD", "shmget": "SYSVIPC", "mq_open": "POSIX_MQUEUE",
    "madvise": "ADVISE_SYSCALLS", "fadvise": "ADVISE_SYSCALLS", "swapon": "SWAP", "process_vm": "CROSS_MEMORY_ATTACH",
    "kcmp": "KCMP", "quotactl": "QUOTACTL", "init_module": "MODULES", "unshare": "NAMESPACES",
}  # fmt: skip
_NOT_IMPLEMENTED = re.compile(r"^.*(?:Function not implemented|ENOSYS).*$", re.MULTILINE)


def find_init_cause(system: System, console: str, options: KernelOptions, files: GuestFiles | None) -> str | None:
    """Return why init could not be executed, or what it asked of the kernel in vain; None when neither is known.

    `files` are those that init is looked up in, as far as they are known.
    """
    if (refused := _REFUSED.search(console)) is not None:
        path = next(found for found in refused.groups()[:4] if found is not None)
        error = _NAMES.get(refused[5], refused[5])
        return _Refusal(path, error, system.machine.arch, options, files).cause()
    if any(words in console for words in _NEEDS_FUTEX) or _FUTEX_ENOSYS.search(console):
        return _futex(options, _program(files, _init_path(system)))
    for refused in _SHELL_REFUSED.finditer(console):
        path, error = refused[1], "ENOEXEC" if refused[2] == "Exec format error" else "ENOENT"
        if files is not None and files.find(path) is not None:
            return _Refusal(path, error, system.machine.arch, options, files).cause()
    if (unmounted := _NOT_MOUNTED.search(console)) is not None and unmounted[1] in _FILE_SYSTEMS:
        blame = options.blame(_FILE_SYSTEMS[unmounted[1]])
        return blame and f"{unmounted[1]} cannot be mounted on {unmounted[2]}: {blame}"
    return _missing_call(console, options)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A program that could not be executed, and what is known of the kernel and of the guest's files."""

    path: str
    error: str
    arch: str
    options: KernelOptions
    files: GuestFiles | None

    @property
    def said(self) -> str:
        return f"{self.path} failed with {self.error}"

    def cause(self) -> str | None:
        entry = self.files.find(self.path) if self.files is not None else None
        if entry is None:
            if self.files is not None and self.files.complete and self.error == "ENOENT":
                return f"{self.said}: there is no {self.path}: it must be in the archive, and executable"
            return _unseen(self.said, self.error, self.arch, self.options)
        if self.error == "EACCES":
            if not stat.S_ISREG(entry.mode) or not entry.mode & 0o111:
                return f"{self.said}: it is not an executable file: chmod +x"
            return None
        return self._in_chain(entry.data)

    def _in_chain(self, data: bytes) -> str | None:
        """Follow a script to its interpreter, a program to its dynamic linker, to the one that cannot be executed."""
        path = self.path
        for _ in range(5):
            program = read_program(data)
            if self.error == "ENOEXEC" and (reason := _unfit(program, data, self.arch, self.options)) is not None:
                return f"{self.said}: {path} {reason}"
            if program.interpreter is None or self.files is None:
                return None
            entry = self.files.find(program.interpreter)
            if entry is None and self.files.complete and self.error == "ENOENT":
                script = program.kind == "script"
                what = "its interpreter" if script else "the dynamic linker it was linked with"
                put = "its program" if script else "its libraries, or link it statically"
                return (
                    f"{self.said}: {path} is there, but {what}, {program.interpreter}, is not in the archive: "
                    f"put it in with {put}"
                )
            if entry is None:
                return None
            path, data = program.interpreter, entry.data
        return None


def _unfit(program: ProgramHeader, data: bytes, arch: str, options: KernelOptions) -> str | None:
    if program.kind == "script":
        blame = options.blame("BINFMT_SCRIPT") if options.known else None
        return blame and f"is a script (#!), and {blame}"
    if program.kind == "unknown":
        start = data[:16].split(b"\n")[0].decode("ascii", errors="replace") if data else ""
        begins = f'begins with "{start}"' if data else "is empty"
        return f'is neither an ELF program nor a script: it {begins}; a script begins with "#!/bin/sh"'
    if program.machine == _ELF_NAMES.get(arch, arch) and (program.bits == 64 or arch in _ELF_NAMES):
        blame = options.blame("BINFMT_ELF")
        return blame and f"is a {program.bits}-bit program, and {blame}"
    narrow = {("x86_64", "i386"): "IA32_EMULATION", ("aarch64", "arm"): "COMPAT"}.get((arch, program.machine))
    if narrow is not None:
        # Without it the next thing to fail is a futex with a 32-bit time.
        more = ["COMPAT_32BIT_TIME"] if options.off("COMPAT_32BIT_TIME") else []
        blame = options.blame(narrow, *more) if not options.known or options.off(narrow) else None
        return blame and f"is a 32-bit program, and {blame}"
    if (arch, program.machine, program.bits) == ("x86_64", "x86_64", 32):
        blame = options.blame("X86_X32_ABI")
        return blame and f"is an x32 program, and {blame}"
    return f"is a program for {program.machine}, and this machine is {arch}"


def _unseen(said: str, error: str, arch: str, options: KernelOptions) -> str | None:
    """Say what is likely of a program that cannot be looked at, as on a finished image of a root file system."""
    if error == "ENOEXEC":
        narrow = "IA32_EMULATION" if arch == "x86_64" else "COMPAT"
        blame = options.blame("BINFMT_ELF", "BINFMT_SCRIPT", narrow)
        needs = f"a 64-bit program needs CONFIG_BINFMT_ELF, a script CONFIG_BINFMT_SCRIPT, a 32-bit one CONFIG_{narrow}"
        return f"{said}: {needs}" + (f"; {blame}" if blame and options.known else "")
    if error == "ENOENT":
        return f"{said}: it is not there, or the interpreter that it names (its #! line, its dynamic linker) is not"
    return None


def _futex(options: KernelOptions, program: ProgramHeader | None) -> str | None:
    if options.off("FUTEX"):
        return f"the program waits for its threads with futex(): {options.blame('FUTEX')}"
    narrow = program is not None and program.bits == 32
    if narrow or options.off("COMPAT_32BIT_TIME"):
        blame = options.blame("COMPAT_32BIT_TIME")
        return blame and f"futex() of a 32-bit program, which has a 32-bit time, answers ENOSYS: {blame}"
    if not options.known:
        return (
            "futex() answers ENOSYS: this kernel was probably built without CONFIG_FUTEX or, for a 32-bit program, "
            "without CONFIG_COMPAT_32BIT_TIME"
        )
    return None


def _missing_call(console: str, options: KernelOptions) -> str | None:
    for found in _NOT_IMPLEMENTED.finditer(console):
        for call, option in _CALLS.items():
            if re.search(rf"\b{call}", found[0]) and (blame := options.blame(option)) is not None:
                return f'"{found[0].strip()[:100]}": {blame}'
    return None


def _program(files: GuestFiles | None, path: str) -> ProgramHeader | None:
    entry = files.find(path) if files is not None else None
    for _ in range(5):
        if entry is None or files is None:
            return None
        program = read_program(entry.data)
        if program.kind != "script" or program.interpreter is None:
            return program
        entry = files.find(program.interpreter)
    return None


def _init_path(system: System) -> str:
    words = dict(word.split("=", 1) for word in system.kernel.cmdline.split() if "=" in word)
    if system.initramfs is not None and "root" not in words:
        return words.get("rdinit", "/init")
    return words.get("init", "/sbin/init")
