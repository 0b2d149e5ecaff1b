"""What costs what: every ns given to one cause, techniques first, and nothing counted twice."""

from pathlib import Path
from typing import Any

import pytest

from bootlab.findings.advise import Advice, advise
from bootlab.findings.cost_tree import CostTree
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import read_profile
from bootlab.profile.recorded.record_types import EventKind, Space
from bootlab.profile.tree.caused_work import CausedWork
from bootlab.profile.waits.critical_path import find_critical_path
from bootlab.profile.waits.idle_blame import find_waits
from bootlab.profile.waits.sleeps import WaitTable
from bootlab.system import Booted, Initramfs, Kernel, Machine, MachineType, System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from tests.profile.conftest import ProfileWriter

KERNEL = (
    "start_kernel setup_arch ret_from_fork kernel_init do_one_initcall kthread worker_thread process_one_work "
    "async_run_entry_fn cryptomgr_test alg_test mpi_powm do_populate_rootfs gunzip flush_buffer inet6_init cmos_init "
    "msleep schedule do_idle cpu_startup_entry acpi_init timer_irq_works.isra.0 asm_sysvec_apic_timer_interrupt "
    "entry_SYSCALL_64 load_system_certificate_list"
).split()
INIT = "swapper/0-1;ret_from_fork;kernel_init;do_one_initcall"
READY_NS = 10_000_000
MEASURED = Measured({}, {"inet6_init": 1, "cmos_init": 1, "load_system_certificate_list": 1}, {}, "")


@pytest.fixture
def system() -> System:
    return System(
        name="pc",
        machine=Machine(type=MachineType.Q35),
        kernel=Kernel(package="linux-image-cloud-amd64", cmdline="console=ttyS0"),
        initramfs=Initramfs(init=Path("init")),
        booted=Booted(mark="ready"),
    )


@pytest.fixture
def boot(tmp_path: Path) -> Profile:
    """A boot of 10 ms: self-tests 5 ms, decompressor 2 ms, unpacking 1 ms, a driver that sleeps, a shell."""
    writer = ProfileWriter(tuple(KERNEL))
    writer.spend("[firmware]", 100_000, space=Space.STAGE)
    writer.spend("[decompressor]", 2_000_000, space=Space.STAGE)
    tasks = (("swapper/0", 0), ("swapper/0", 1), ("cryptomgr_test", 70), ("kworker/u2:0", 9))
    idle, init, tests, worker = (writer.task(*task) for task in tasks)
    writer.spend("swapper/0-0;start_kernel;setup_arch;timer_irq_works.isra.0", 50_000)
    writer.switch(idle, init, "swapper/0-0;start_kernel")
    writer.spend(f"{INIT};inet6_init", 100_000)
    writer.spend(f"{INIT};acpi_init", 200_000)
    writer.spend(f"{INIT};acpi_init;asm_sysvec_apic_timer_interrupt", 10_000)
    writer.spend(f"{INIT};cmos_init;msleep", 40_000)
    writer.switch(init, idle, f"{INIT};cmos_init;msleep;schedule")
    writer.idle("swapper/0-0;cpu_startup_entry;do_idle", 900_000)
    writer.wake(init, idle, "swapper/0-0;cpu_startup_entry;do_idle")
    writer.switch(idle, tests, "swapper/0-0;cpu_startup_entry;do_idle", 0)
    writer.spend("cryptomgr_test-70;ret_from_fork;kthread;cryptomgr_test", 5_000)
    writer.spend("cryptomgr_test-70;ret_from_fork;kthread;cryptomgr_test;alg_test", 1_000_000)
    writer.spend("cryptomgr_test-70;ret_from_fork;kthread;cryptomgr_test;alg_test;mpi_powm", 4_000_000)
    writer.switch(tests, worker, "cryptomgr_test-70;ret_from_fork;kthread;cryptomgr_test", 4)
    work = "kworker/u2:0-9;ret_from_fork;kthread;worker_thread;process_one_work;async_run_entry_fn;do_populate_rootfs"
    writer.spend(f"{work};gunzip", 700_000)
    writer.spend(f"{work};gunzip;flush_buffer", 300_000)
    writer.switch(worker, init, work)
    writer.task("sh", 1, number=init)
    writer.spend("sh-1;[user]", 500_000)
    writer.spend("sh-1;entry_SYSCALL_64", 95_000)
    writer.cut("ready")
    writer.spend("sh-1;[user]", 77_000_000)
    path = tmp_path / "profile.bin"
    path.write_bytes(writer.end())
    return read_profile(path, KERNEL, 0)


def advice(profile: Profile, system: System, **options: Any) -> Advice:
    idles = find_waits(profile, find_critical_path(profile, {"ready": READY_NS})).idles
    tree = CostTree(profile, profile.up_to("ready"), idles)
    return advise(system, MEASURED, tree, load_catalogue(), **options)


def test_the_list_adds_up_to_the_boot(boot: Profile, system: System) -> None:
    found = advice(boot, system)
    assert found.total_ns == READY_NS, "up to ready, idle time included"
    assert sum(item.cost_ns for item in found.items) + found.rest_ns == found.total_ns
    for item in found.items:
        assert item.cost_ns == item.instructions + item.idle_ns
        assert item.remedy is None or item.cost_ns <= item.remedy.estimated_ns
    tiny = [item.cost_ns for item in found.items if item.share < 0.001]
    assert not tiny


def test_the_first_line_is_the_largest_removable_cost(boot: Profile, system: System) -> None:
    found = advice(boot, system, payload="zstd")
    removable = [item for item in found.items if item.remedy is not None]
    assert found.items[: len(removable)] == removable
    first, second = removable[:2]
    assert (first.what, first.cost_ns) == ("self-tests of the crypto API", 5_000_000)
    assert first.remedy is not None and first.remedy.technique == "cmdline_cryptomgr_notests"
    assert first.functions == ["alg_test"]
    assert (second.what, second.cost_ns) == ("the kernel image's decompressor (zstd)", 2_000_000)
    assert second.remedy is not None and second.remedy.technique == "firmware_pvh"
    costs = [item.cost_ns for item in removable]
    assert costs == sorted(costs, reverse=True)


def test_techniques_for_the_same_cost_share_a_line(boot: Profile, system: System) -> None:
    line = next(item for item in advice(boot, system).items if "decompression of the initramfs" in item.what)
    assert line.cost_ns == 700_000, "what is unpacked is written all the same"
    assert line.remedy is not None
    # gunzip is what each of them spares; the least risk and the order of the catalogue decide.
    assert {line.remedy.technique, *(one.technique for one in line.instead)} >= {"initramfs_none", "initramfs_lz4"}
    names = [item.remedy.technique for item in advice(boot, system).items if item.remedy is not None]
    assert len(names) == len(set(names)), "a technique has one line"


def test_idle_time_is_charged_to_the_wait_it_served(boot: Profile, system: System) -> None:
    line = next(item for item in advice(boot, system).items if "cmos_init" in item.what)
    assert (line.idle_ns, line.instructions) == (900_000, 40_000)
    assert line.remedy is not None and line.remedy.technique == "cmdline_slowest_initcall"


def test_what_no_technique_removes_is_named_by_where_it_was_spent(boot: Profile, system: System) -> None:
    others = {item.what: (item.kind, item.cost_ns) for item in advice(boot, system).items if item.remedy is None}
    assert others["process sh"] == ("process", 595_000)
    assert others["worker function do_populate_rootfs"] == ("work", 300_000)
    assert "kernel thread's function cryptomgr_test" not in others, "5 us are below 0.1 %"


def test_compiler_suffixes_and_interrupts_belong_to_their_function(boot: Profile, system: System) -> None:
    by_name = {item.remedy.technique: item for item in advice(boot, system).items if item.remedy is not None}
    assert by_name["cmdline_no_timer_check"].cost_ns == 50_000
    assert by_name["cmdline_acpi_off"].cost_ns == 210_000


def test_a_technique_that_does_not_apply_has_no_line(boot: Profile, system: System) -> None:
    off = system.with_cmdline("cryptomgr.notests").with_part("kernel", entry="pvh")
    found = advice(boot, off)
    assert {"cmdline_cryptomgr_notests", "firmware_pvh"} <= found.not_applicable.keys()
    assert all(item.remedy is None for item in found.items if item.what == "[decompressor]")
    assert sum(item.cost_ns for item in found.items) + found.rest_ns == found.total_ns


def test_what_other_threads_did_because_of_it_is_said_beside_it(tmp_path: Path, system: System) -> None:
    """Certificates are verified with algorithms whose self-tests a thread runs first."""
    writer = ProfileWriter(tuple(KERNEL))
    init, tests = writer.task("swapper/0", 1), writer.task("cryptomgr_test", 70)
    loading = f"{INIT};load_system_certificate_list"
    writer.spend(loading, 1_000_000)
    writer.event(EventKind.FORK, init, loading, a=tests)
    writer.switch(init, tests, f"{loading};schedule")
    writer.spend("cryptomgr_test-70;ret_from_fork;kthread;mpi_powm", 9_000_000)
    writer.wake(init, tests, "cryptomgr_test-70;ret_from_fork;kthread")
    writer.switch(tests, init, "cryptomgr_test-70;ret_from_fork;kthread", 4)
    writer.spend("swapper/0-1;ret_from_fork", 10)
    writer.cut("ready")
    path = tmp_path / "profile.bin"
    path.write_bytes(writer.end())
    profile = read_profile(path, KERNEL, 0)
    found = advice(profile, system, caused=CausedWork(WaitTable(profile)))
    remedies = {one.remedy.technique: one.remedy for one in found.items if one.remedy is not None}
    certs = remedies["cmdline_certs_builtin"]
    assert (certs.estimated_ns, certs.others_ns) == (1_000_000, 9_000_000)
    assert [one.cost_ns for one in found.items] == [1_000_000, 9_000_000], "a line holds its own"


def test_what_a_declared_function_jumped_to_is_its_technique_s(tmp_path: Path, system: System) -> None:
    """mark_rodata_ro() ends in a jump to the check for writable code, which then stands below kernel_init()."""
    writer = ProfileWriter(("start_kernel", "ret_from_fork", "kernel_init", "ptdump_walk_pgd_level_core", "note_page"))
    writer.task("swapper/0", 1)
    writer.spend("swapper/0-1;ret_from_fork;kernel_init;ptdump_walk_pgd_level_core;note_page", READY_NS)
    writer.cut("ready")
    path = tmp_path / "profile.bin"
    path.write_bytes(writer.end())
    found = advice(read_profile(path, list(writer.functions), 0), system)
    assert found.items[0].remedy is not None
    assert (found.items[0].remedy.technique, found.items[0].cost_ns) == ("cmdline_rodata_off", READY_NS)


def test_functions_of_a_stage_are_found_below_their_caller_there(tmp_path: Path, system: System) -> None:
    writer = ProfileWriter(("start_kernel", "usb_init"))
    for name in ("udelay", "autoboot_command", "usb_init"):
        writer.function(f"{name} [U-Boot]", Space.CODE)
    writer.spend("[U-Boot];autoboot_command [U-Boot];udelay [U-Boot]", 2_000_000, space=Space.STAGE)
    writer.spend("[U-Boot];usb_init [U-Boot];udelay [U-Boot]", 5_000_000, space=Space.STAGE)
    writer.spend("[U-Boot]", 100_000, space=Space.STAGE)
    writer.task("swapper/0", 1)
    writer.spend("swapper/0-1;usb_init", 900_000)
    writer.cut("ready")
    path = tmp_path / "profile.bin"
    path.write_bytes(writer.end())
    tree = CostTree(read_profile(path, ["start_kernel", "usb_init"], 0), [0], [])
    cost_ns = {
        name: int(tree.cost_ns[tree.below([name])].sum())
        for name in ("autoboot_command/udelay [U-Boot]", "usb_init [U-Boot]", "usb_init", "autoboot_command/udelay")
    }
    assert list(cost_ns.values()) == [2_000_000, 5_000_000, 900_000, 0]
