"""Tells from a kernel function's name what its calls, jumps and returns mean for a call stack (x86-64, arm, riscv).

Names are those of arch/x86/entry, arch/x86/lib/retpoline.S, arch/arm64/kernel/entry.S, arch/arm/kernel/entry-*.S and
arch/riscv/kernel/entry.S from Linux 4.20 on: entry code was renamed in 5.8 (x86-64) and 5.12 (arm64), thunks multiply
with every speculation bug.
"""

import re
from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """What a function is, besides code; the words of the functions file (plugin/trace_format.h)."""

    PLAIN = "-"
    THUNK = "thunk"
    """A jump on somebody's behalf (retpolines, linker veneers): no frame of its own."""
    RETURN = "return"
    """Returns on its caller's behalf (return thunks)."""
    TRAMPOLINE = "trampoline"
    """A static call's patched jump: no frame of its own, though it may be patched to a return."""
    ENTRY = "entry"
    """Entered by an interrupt, an exception or a system call at its first instruction."""
    STUBS = "stubs"
    """A row of entry stubs: entered by an interrupt or exception at any of them, each jumps on to an entry."""
    FORK = "fork"
    """Where a new task's stack begins."""
    SYSCALL = "syscall"
    """One system call's own function."""
    END = "end"
    """No function from here to the next line."""


_X86_64 = {
    # __pfx_: the padding before a function, which call depth tracking fills with code that falls into it (6.2).
    Role.THUNK: r"__x86_indirect_\w+|__x86_retpoline_\w+|__pfx_\S+|its_static_thunk_\w+",
    # srso_safe_ret is called by srso_return_thunk and drops that call's address itself.
    Role.RETURN: r"(?!set_|__pfx_)\w+_return_thunk|__x86_return_skl|srso(_alias)?_safe_ret(_alias)?",
    Role.TRAMPOLINE: r"__SCT__\S+",
    Role.ENTRY: (
        r"(xen_)?asm_(exc|sysvec|xenpv|fred_entrypoint)_\w+|asm_(common|spurious)_interrupt|(xen_)?asm_int80_emulation"
        r"|(xen_)?entry_(SYSCALL|SYSENTER|INT80)\w+|xen_(syscall|sysenter)\w*_target|ignore_sysret"
        r"|early_idt_handler_common|vc_(boot|no)_ghcb"
    ),
    Role.STUBS: r"irq_entries_start|spurious_entries_start|(xen_)?early_idt_handler_array",
    Role.SYSCALL: r"__(x64|ia32|ia32_compat|x32_compat)_sys_\w+",
}
_X86_64_BEFORE_5_8 = (
    r"divide_error|overflow|bounds|invalid_op|device_not_available|double_fault|coprocessor_segment_overrun|invalid_TSS"
    r"|segment_not_present|spurious_interrupt_bug|coprocessor_error|alignment_check|simd_coprocessor_error|debug|int3"
    r"|stack_segment|general_protection|page_fault|async_page_fault|machine_check|nmi|xen(nmi|debug|int3)"
    r"|common_interrupt|(apic_timer|reschedule|call_function|call_function_single|error|spurious|thermal|irq_work"
    r"|reboot|irq_move_cleanup|deferred_error|threshold)_interrupt|x86_platform_ipi|hypervisor_callback"
)
_AARCH64 = {
    # Veneers that GNU ld and LLD put between far apart sections.
    Role.THUNK: r"__\w+_veneer|__AArch64\w+Thunk_\S+",
    # el1h_64_irq and the like; until 5.11 el1_irq, el0_sync_compat.
    Role.ENTRY: r"el[01][th]_(64|32)_(sync|irq|fiq|error)|el[01]_(sync|irq|error)(_compat|_invalid(_compat)?)?",
    Role.STUBS: r"vectors|tramp_vectors|__bp_harden_el1_vectors|__hyp_stub_vectors",
    Role.SYSCALL: r"__arm64_(compat_)?sys_\w+",
}
ARM_VECTORS: Final = "vectors"
"""What the page of 32-bit arm's exception vectors is called, which has no symbol."""
_ARMV7 = {
    Role.THUNK: r"__\w+_veneer|__(ARM|Thumb)v\w+Thunk_\S+",
    Role.ENTRY: r"vector_(bhb_\w+_)?swi|__(irq|dabt|pabt|und|fiq)_(svc|usr|invalid)|__fiq_abt|__bad_stack",
    Role.STUBS: rf"{ARM_VECTORS}|vector_((bhb_\w+_)?(irq|dabt|pabt|und|fiq)|rst|addrexcptn)",
    # Without the tables, and what is only called like them.
    Role.SYSCALL: r"(__se_)?sys_(?!(call_table|oabi_call_table|syscall|imageblit|fillrect|copyarea|off_\w+)$)\w+",
}
_RISCV64 = {
    # One for all: interrupts, exceptions and system calls.
    Role.ENTRY: r"handle_exception",
    # Since 6.15 one for threads of the kernel, one for processes.
    Role.FORK: r"ret_from_fork_(kernel|user)_asm",
    # Since 6.6 (ARCH_HAS_SYSCALL_WRAPPER); before, a system call is a function like others.
    Role.SYSCALL: r"__riscv_(compat_)?sys_\w+",
}
_ROLES: Final = {"x86_64": _X86_64, "aarch64": _AARCH64, "armv7": _ARMV7, "riscv64": _RISCV64}

# 6.6 made ret_from_fork() a function that ret_from_fork_asm calls.
_FORK: Final = ("ret_from_fork_asm", "ret_from_fork")

_LABELS: Final = (
    # Sections of text.
    r"_[se]?(text|inittext|exittext)|__(init|inittext|exittext)_(begin|end)|__\S+_text_(start|end)"
    r"|__indirect_thunk_(start|end)|__(kvm_nvhe_)?__hyp_section_\S+|__relocate_new_kernel_(start|end)"
    r"|\w*__st(art|op)___kvm_ex_table"
    # The header of riscv64's image, and an end in its assembly code.
    r"|pe_head_start|coff_header|optional_header|extra_header_fields|section_table|efi_header_end"
    r"|ret_from_exception_end"
    # Places inside 32-bit arm's system call entry.
    r"|local_restart|__sys_trace|__kuser_helper_(start|end)"
    # Mapping symbols of arm64; kallsyms leaves them out except where a prefix hides them.
    r"|(__pi_|__kvm_nvhe_)?\$[xd](\.\w+)?"
    # Places inside x86-64's assembly functions.
    r"|entry_(SYSCALL|SYSENTER|SYSRET[QL])_\w*(safe_stack|after_hwframe)|entry_SYSRET[QL]_\w*(unsafe_stack|end)"
    r"|syscall_return_via_sysret|sysret32_from_system_call|__end_entry_SYSENTER_compat"
    r"|nested_nmi(_out)?|first_nmi|(end_)?repeat_nmi|nmi_(no_fsgsbase|swapgs|restore)"
    r"|restore_regs_and_return_to_kernel|(early_xen_iret_patch|native_irq_return)\w*|native_iret"
    r"|ftrace_(regs_)?caller_(op_ptr|jmp|end)|ftrace_(graph_|regs_)?call|secondary_startup_64_no_verify"
)


def find_roles(arch: str, names: Collection[str]) -> dict[str, Role]:
    """Return the role of every name that has one; all others are plain. `arch` is x86_64, aarch64, armv7 or riscv64.

    `names` are all text symbols of one kernel: some names mean different things in different versions.
    """
    patterns = dict(_ROLES[arch])
    if arch == "x86_64" and "asm_exc_page_fault" not in names:
        patterns[Role.ENTRY] += "|" + _X86_64_BEFORE_5_8
    roles: dict[str, Role] = {}
    for role, pattern in patterns.items():
        roles.update(dict.fromkeys(_matching(pattern, names), role))
    fork = next((name for name in _FORK if name in names), None)
    if fork is not None:
        roles[fork] = Role.FORK
    return roles


def find_labels(names: Collection[str]) -> set[str]:
    """Return those text symbols that are places inside a function or between functions, and begin none themselves."""
    return set(_matching(_LABELS, names))


def _matching(pattern: str, names: Collection[str]) -> Iterator[str]:
    # One search through all names at once: a tenth of the time that one match for each takes.
    for found in re.finditer(f"^(?:{pattern})$", "\n".join(names), re.MULTILINE | re.ASCII):
        yield found[0]
