"""System calls by process and by name."""

from typing import Any

from bootlab.profile.tables.syscalls import find_syscalls
from tests.profile.tables.finished import finish


def test_system_calls_by_process(profile_writer: Any) -> None:
    writer = profile_writer
    init, shell = writer.task("init", 1), writer.task("sh", 8)
    writer.spend("init-1;[user]", 100)
    writer.syscall(shell, "__x64_sys_read", 2, 500, 90)
    writer.syscall(init, "__x64_sys_execve", 1, 300, 300)
    writer.syscall(init, "__x64_sys_write", 4, 40, 40)
    writer.cut("ready")
    writer.syscall(init, "__x64_sys_write", 1, 900, 10)
    profile = finish(writer)
    found = find_syscalls(profile)
    assert [(one.name, one.pid, one.calls, one.elapsed_ns, one.instructions) for one in found] == [
        ("init", 1, 6, 1240, 350),
        ("sh", 8, 2, 500, 90),
    ]
    assert [(call.name, call.calls, call.elapsed_ns) for call in found[0].syscalls] == [
        ("write", 5, 940),
        ("execve", 1, 300),
    ]
    to_ready = find_syscalls(profile, until="ready")
    assert [(call.name, call.calls) for call in to_ready[0].syscalls] == [("execve", 1), ("write", 4)]
    assert find_syscalls(profile, until="never_reached") == found
