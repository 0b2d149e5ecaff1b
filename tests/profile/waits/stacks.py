"""Stacks of kernels, written as words."""

import re

THREAD = "ret_from_fork_asm ret_from_fork kthread "
SYSCALL = "main@busybox entry_SYSCALL_64_after_hwframe do_syscall_64 "


def words(text: str) -> list[str]:
    """Split a stack into names; `function@place` is one of a module or program."""
    return [re.sub("@(.*)", r" [\1]", word) for word in text.split()]
