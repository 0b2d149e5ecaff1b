"""What a profile needs of Debian's own kernels: functions, roles, offsets, initcall levels; and the time to decode it.

Only packages that the cache already has are looked at; nothing is fetched.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.build.kernel.image import extract_vmlinux
from bootlab.profile.asked.profiling import (
    PATH_HOOKS,
    KernelFacts,
    make_profile_config,
    read_functions,
    read_kernel_facts,
)
from bootlab.symbols.btf import read_btf
from bootlab.symbols.roles import Role
from bootlab.symbols.table import SymbolTable, read_symbols
from tests.boot.kernels.test_real_symbols import KERNELS, packaged_kernel

pytestmark = pytest.mark.kernel

Kernel = tuple[SymbolTable, KernelFacts]

FIRST_MEMBERS = ("mod_kallsyms.symtab", "module_memory.base", "device_driver.name")


@pytest.fixture(scope="module", params=KERNELS, ids=lambda kernel: f"{kernel[0]}-{kernel[1]}")
def kernel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    suite, arch, _ = request.param
    vmlinux = tmp_path_factory.mktemp("kernel") / "vmlinux"
    extract_vmlinux(packaged_kernel(suite, arch), vmlinux)
    table = read_symbols(vmlinux)
    yield table, read_kernel_facts(table)


def test_nothing_is_missing(kernel: Kernel) -> None:
    table, facts = kernel
    assert facts.missing == ()
    assert set(PATH_HOOKS) <= set(facts.hooks)
    for kind, address in facts.hooks.items():
        assert table.name_at(address) is not None, kind
    assert {address for address, _, _ in facts.functions} >= set(facts.hooks.values()), (
        "a hook is where a function begins"
    )


def test_functions_cover_the_text(kernel: Kernel) -> None:
    table, facts = kernel
    addresses = [address for address, _, _ in facts.functions]
    assert addresses == sorted(set(addresses))
    assert facts.functions[-1][1] == Role.END
    assert len(facts.functions) > 40_000
    places = dict(zip(addresses, facts.names, strict=True))
    for name in ("start_kernel", "rest_init", "panic", "do_one_initcall", "schedule", "memcpy"):
        address = table.address(name)
        assert address is not None
        assert places[address].strip("_") == name
    end = table.address("_etext")
    assert end is None or places[end] == ""


def test_roles(kernel: Kernel) -> None:
    table, facts = kernel
    role = {name: role for _, role, name in facts.functions}
    counts = Counter(role.values())
    assert counts[Role.FORK] == 1
    assert 400 < counts[Role.SYSCALL] < 1200
    if table.arch == "x86_64":
        assert counts[Role.STUBS] == 4
        assert role["asm_exc_page_fault"] == role["entry_SYSCALL_64"] == role["asm_common_interrupt"] == Role.ENTRY
        assert role["__x86_return_thunk"] == role["srso_safe_ret"] == Role.RETURN
        assert role["__x86_indirect_thunk_rcx"] == Role.THUNK
        assert counts[Role.TRAMPOLINE] > 700
        entries = {name for name in role if re.match("asm_(exc|sysvec)_", name)}
        assert len(entries) > 40
        assert {role[name] for name in entries} == {Role.ENTRY}
        assert "entry_SYSCALL_64_after_hwframe" not in role
    elif table.arch == "riscv64":
        assert {name for name in role if role[name] is Role.ENTRY} == {"handle_exception"}
        assert counts[Role.STUBS] == counts[Role.TRAMPOLINE] == counts[Role.THUNK] == 0
    else:
        assert role["vectors"] == Role.STUBS
        assert role["el1h_64_irq"] == role["el0t_64_sync"] == Role.ENTRY
        assert counts[Role.TRAMPOLINE] == counts[Role.THUNK] == 0


def test_offsets(kernel: Kernel) -> None:
    table, facts = kernel
    for name in FIRST_MEMBERS:
        assert facts.offsets.get(name, 0) == 0
    assert facts.offsets["task_struct.tgid"] == facts.offsets["task_struct.pid"] + 4
    new = "module.mem" in facts.offsets
    assert new == ("module_memory" in facts.offsets) == ("module.core_layout.base" not in facts.offsets)
    assert facts.offsets["linux_binprm.filename"] == 96
    assert {"file.f_path.dentry", "dentry.d_name.name", "task_struct.mm", "module.kallsyms"} <= set(facts.offsets)
    types = read_btf(table.image)
    assert types is not None
    assert types.size("dentry") == 192


def test_initcall_levels(kernel: Kernel) -> None:
    table, facts = kernel
    levels = {str(table.name_at(address)): level for address, level in facts.initcall_levels.items()}
    assert levels["cryptomgr_init"] in ("arch", "subsys")
    assert levels["populate_rootfs"] in ("rootfs", "fs")
    assert levels["deferred_probe_initcall"] == "late"
    assert levels["con_init"] == levels["univ8250_console_init"] == "console"
    assert levels["trace_init_flags_sys_enter"] == "early"
    assert levels["init_elf_binfmt"] == "core"
    # Debian's riscv64 kernel has its file systems in modules.
    assert levels["virtio_pci_driver_init" if table.arch == "riscv64" else "ext4_init_fs"] == "device"
    assert len(levels) > 550


def test_decoded_within_two_seconds(kernel: Kernel, tmp_path: Path) -> None:
    table, _ = kernel
    began_ns = time.process_time_ns()
    facts = read_kernel_facts(read_symbols(table.image))
    config = make_profile_config(facts)
    took_ns = time.process_time_ns() - began_ns
    assert took_ns < 2_000_000_000
    began_ns = time.process_time_ns()
    assert read_btf(table.image) is not None
    assert time.process_time_ns() - began_ns < 1_000_000_000
    for name, text in config.files.items():
        (tmp_path / name).write_text(text)
    assert read_functions(tmp_path / "functions.txt") == list(facts.functions)
