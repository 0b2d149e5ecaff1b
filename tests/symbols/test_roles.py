"""Names as they are in the symbol tables of Linux 5.4 to 6.12."""

import pytest

from bootlab.symbols.roles import Role, find_labels, find_roles

X86_64 = {
    Role.THUNK: "__x86_indirect_thunk_rax __x86_indirect_thunk_array __x86_indirect_call_thunk_r11 __pfx_memcpy "
    "__x86_indirect_its_thunk_r9 __x86_indirect_jump_thunk_rbx __pfx_set_return_thunk __pfx_foo.isra.0",
    Role.RETURN: "__x86_return_thunk srso_return_thunk srso_alias_return_thunk srso_safe_ret srso_alias_safe_ret "
    "retbleed_return_thunk its_return_thunk call_depth_return_thunk zen_return_thunk __x86_return_skl",
    Role.TRAMPOLINE: "__SCT__cond_resched __SCT__tp_func_initcall_level",
    Role.ENTRY: "asm_exc_page_fault asm_exc_nmi asm_sysvec_apic_timer_interrupt asm_common_interrupt entry_SYSCALL_64 "
    "asm_spurious_interrupt asm_xenpv_exc_debug asm_int80_emulation xen_asm_exc_int3 entry_SYSCALL_compat "
    "entry_SYSENTER_compat entry_INT80_compat xen_entry_SYSCALL_64 entry_SYSCALL32_ignore early_idt_handler_common "
    "vc_no_ghcb asm_fred_entrypoint_user ignore_sysret",
    Role.STUBS: "irq_entries_start spurious_entries_start early_idt_handler_array xen_early_idt_handler_array",
    Role.SYSCALL: "__x64_sys_read __ia32_compat_sys_ioctl __ia32_sys_read __x64_sys_ni_syscall",
}
AARCH64 = {
    Role.THUNK: "__memcpy_veneer __AArch64ADRPThunk_memcpy",
    Role.ENTRY: "el1h_64_sync el1h_64_irq el0t_64_sync el0t_32_error el1t_64_fiq el1_irq el0_sync el0_irq_compat",
    Role.STUBS: "vectors tramp_vectors __bp_harden_el1_vectors",
    Role.SYSCALL: "__arm64_sys_read __arm64_compat_sys_ioctl",
    Role.FORK: "ret_from_fork",
}
ARMV7 = {
    Role.THUNK: "__memcpy_veneer __ARMv7ABSLongThunk_memcpy __Thumbv7ABSLongThunk_memcpy",
    Role.ENTRY: "vector_swi vector_bhb_loop8_swi vector_bhb_bpiall_swi __irq_svc __irq_usr __dabt_usr __und_svc "
    "__pabt_invalid __fiq_abt __bad_stack",
    Role.STUBS: "vectors vector_rst vector_irq vector_bhb_bpiall_irq vector_dabt vector_und vector_fiq "
    "vector_addrexcptn",
    Role.SYSCALL: "sys_read __se_sys_mmap_pgoff sys_mmap2 sys_sigreturn_wrapper sys_ni_syscall",
    Role.FORK: "ret_from_fork",
}
RISCV64 = {
    Role.ENTRY: "handle_exception",
    Role.SYSCALL: "__riscv_sys_read __riscv_compat_sys_ioctl __riscv_sys_ni_syscall",
    Role.FORK: "ret_from_fork",
}
PLAIN = {
    "riscv64": "start_kernel ret_from_exception handle_kernel_stack_overflow call_on_irq_stack __switch_to "
    "do_trap_unknown __do_sys_clone __se_sys_read sbi_ecall __sbi_ecall syscall_handler do_irq",
    "armv7": "start_kernel ret_fast_syscall ret_to_user_from_irq arm_syscall sys_call_table sys_syscall sys_fillrect "
    "__irq_wake_thread sys_off_handler __dabt_svc.part.0 do_DataAbort __switch_to __kuser_get_tls vector_table "
    "kstat_irqs_usr",
    "x86_64": "start_kernel error_entry error_return paranoid_entry paranoid_exit asm_load_gs_index memcpy "
    "common_interrupt_return swapgs_restore_regs_and_return_to_usermode set_return_thunk cpu_wants_rethunk "
    "preempt_schedule_thunk __x64_sys_read.cold __do_sys_read ksys_read entry_ibpb entry_untrain_ret page_fault "
    "retbleed_untrain_ret __switch_to_asm clear_bhb_loop asm_cpu_bringup_and_idle nmi debug common_interrupt overflow",
    "aarch64": "start_kernel el1h_64_irq_handler ret_to_user ret_to_kernel el0_svc el1_interrupt call_on_irq_stack "
    "cpu_switch_to __hyp_set_vectors invoke_syscall asm_exc_page_fault __x86_return_thunk",
}
LABELS = (
    "_text _stext _etext _sinittext _einittext __init_begin __entry_text_start __entry_text_end __noinstr_text_start "
    "__irqentry_text_end __indirect_thunk_start __static_call_text_end __pi_$x $d entry_SYSCALL_64_after_hwframe "
    "entry_SYSCALL_64_safe_stack entry_SYSRETQ_unsafe_stack entry_SYSRETL_compat_end syscall_return_via_sysret "
    "first_nmi repeat_nmi end_repeat_nmi nested_nmi_out nmi_restore native_irq_return_iret early_xen_iret_patch "
    "restore_regs_and_return_to_kernel ftrace_call ftrace_graph_call ftrace_regs_caller_end local_restart __sys_trace "
    "coff_header optional_header extra_header_fields section_table pe_head_start efi_header_end ret_from_exception_end"
)
FUNCTIONS = (
    "startup_64 entry_SYSCALL_64 asm_exc_nmi ftrace_caller ftrace_regs_caller ftrace_stub timer_list_start "
    "shmem_write_end common_interrupt_return core_kernel_text __start_tty ret_from_fork kernel_fpu_end nmi_handle"
    " __init_work"
)


@pytest.mark.parametrize(
    ("arch", "expected"), [("x86_64", X86_64), ("aarch64", AARCH64), ("armv7", ARMV7), ("riscv64", RISCV64)]
)
def test_roles(arch: str, expected: dict[Role, str]) -> None:
    names = [name for words in expected.values() for name in words.split()]
    roles = find_roles(arch, {*names, *PLAIN[arch].split()})
    assert roles == {name: role for role, words in expected.items() for name in words.split()}


def test_only_one_place_begins_the_stack_of_a_new_task() -> None:
    assert find_roles("x86_64", {"ret_from_fork"}) == {"ret_from_fork": Role.FORK}
    assert find_roles("x86_64", {"ret_from_fork", "ret_from_fork_asm"}) == {"ret_from_fork_asm": Role.FORK}


def test_riscv64_has_two_places_that_do_since_6_15() -> None:
    names = {"ret_from_fork_kernel_asm", "ret_from_fork_user_asm", "ret_from_fork_kernel", "ret_from_fork_user"}
    assert find_roles("riscv64", names) == {name: Role.FORK for name in names if name.endswith("_asm")}


def test_entries_before_5_8() -> None:
    names = {
        "page_fault",
        "nmi",
        "common_interrupt",
        "apic_timer_interrupt",
        "entry_SYSCALL_64",
        "do_page_fault",
        "debug",
    }
    assert set(find_roles("x86_64", names)) == names - {"do_page_fault"}
    assert set(find_roles("x86_64", names | {"asm_exc_page_fault"})) == {"asm_exc_page_fault", "entry_SYSCALL_64"}


def test_labels() -> None:
    names = {*LABELS.split(), *FUNCTIONS.split()}
    assert find_labels(names) == set(LABELS.split())
