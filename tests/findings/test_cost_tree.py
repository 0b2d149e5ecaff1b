"""Every ns of a boot at one node: which nodes a name means, and under which heading what nobody claims is told."""

from dataclasses import replace

import numpy as np
import pytest

from bootlab.findings.cost_tree import CostTree, Heading
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import Space
from bootlab.profile.tables.initcalls import Initcall
from bootlab.profile.waits.chain import LinkKind
from bootlab.profile.waits.idle_blame import IdleStretch
from bootlab.profile.waits.sleeps import WaitTable
from tests.profile.conftest import ProfileWriter

KERNEL = tuple(
    "start_kernel ret_from_fork kernel_init do_one_initcall console_init kthread worker_thread process_one_work "
    "async_run_entry_fn cpu_startup_entry do_idle default_idle acpi_init acpi_scan acpi_eval.isra.0 pci_init pci_scan "
    "con_init setup_arch reserve asm_common_interrupt handle_irq work_fn async_fn kswapd entry_SYSCALL_64 do_exit "
    "msleep schedule read_config".split()
)
INIT = "swapper/0-1;ret_from_fork;kernel_init;do_one_initcall"
IDLE = "swapper/0-0;start_kernel;cpu_startup_entry;do_idle;default_idle"


def parsed(writer: ProfileWriter) -> Profile:
    return parse_profile(writer.end(), writer.functions, 0)


def tree_of(writer: ProfileWriter, *, initcalls: tuple[Initcall, ...] = ()) -> CostTree:
    profile = parsed(writer)
    return CostTree(profile, range(len(profile.slices)), (), initcalls)


def stacks(tree: CostTree, nodes: np.ndarray) -> set[str]:
    """Return the nodes of a mask as stacks, without their first frame."""
    return {";".join(tree.profile.path(node)[1:]) for node in np.flatnonzero(nodes).tolist()}


@pytest.fixture
def writer() -> ProfileWriter:
    return ProfileWriter(KERNEL)


def test_instructions_of_the_slices_asked_for_become_ns(writer: ProfileWriter) -> None:
    """2 ns an instruction, 30 of them up to ready."""
    writer.spend("swapper/0-0;start_kernel", 20)
    writer.cut("early")
    node = writer.spend("swapper/0-0;start_kernel", 10)
    writer.cut("ready")
    writer.spend("swapper/0-0;start_kernel", 500)
    profile = replace(parsed(writer), shift=1)
    tree = CostTree(profile, profile.up_to("ready"), ())
    assert int(tree.instructions[node]) == 30 and int(tree.cost_ns[node]) == tree.total_ns == 60
    assert CostTree(profile, (), ()).total_ns == 0


def test_idle_time_is_with_the_wait_it_served_up_to_the_last_slice(writer: ProfileWriter) -> None:
    """Init sleeps from 10; 100 ns of idle time serve it, 60 of them before ready; 7 before it served nobody."""
    swapper, init = writer.task("swapper/0", 0), writer.task("init", 1)
    halted = writer.node(IDLE)
    writer.switch(swapper, init, IDLE, 0)
    writer.spend("init-1;msleep", 10)
    writer.switch(init, swapper, "init-1;msleep;schedule")
    writer.idle(IDLE, 60)
    writer.cut("ready")
    writer.idle(IDLE, 40)
    profile = parsed(writer)
    table = WaitTable(profile)
    wait = table.wait(int(table.sleeps()[0]))
    idle = [
        IdleStretch(0, 7, 0, halted, LinkKind.RUNNING, None),
        IdleStretch(10, 110, 0, halted, LinkKind.WAITING, wait),
        IdleStretch(110, 150, 0, halted, LinkKind.WAITING, wait),
    ]
    tree = CostTree(profile, profile.up_to("ready"), idle)
    assert (int(tree.idle_ns[wait.node]), int(tree.idle_ns[halted])) == (60, 7)
    assert tree.total_ns == 10 + 60 + 7


def test_a_function_means_its_calls_and_all_below_them(writer: ProfileWriter) -> None:
    for stack in ("acpi_init", "acpi_init;acpi_scan", "acpi_init;acpi_scan;read_config", "pci_init;read_config"):
        writer.spend(f"{INIT};{stack}", 1)
    tree = tree_of(writer)
    under = "ret_from_fork;kernel_init;do_one_initcall;"
    scan = {f"{under}acpi_init;acpi_scan", f"{under}acpi_init;acpi_scan;read_config"}
    assert stacks(tree, tree.below(["acpi_scan"])) == scan
    assert stacks(tree, tree.below(["acpi_init"])) == scan | {f"{under}acpi_init"}
    assert stacks(tree, tree.below(["acpi_init"], keeps=["acpi_scan"])) == {f"{under}acpi_init"}
    assert stacks(tree, tree.below(["acpi_init", "acpi_scan"], keeps=["acpi_scan"])) == {f"{under}acpi_init"}
    assert stacks(tree, tree.below(["no_such_function"])) == set()


def test_with_its_caller_a_function_means_what_that_calls(writer: ProfileWriter) -> None:
    writer.spend(f"{INIT};acpi_init;read_config", 1)
    writer.spend(f"{INIT};pci_init;read_config", 1)
    tree = tree_of(writer)
    found = stacks(tree, tree.below(["pci_init/read_config"]))
    assert found == {"ret_from_fork;kernel_init;do_one_initcall;pci_init;read_config"}


def test_a_copy_of_a_function_that_a_compiler_made_is_that_function(writer: ProfileWriter) -> None:
    writer.spend(f"{INIT};acpi_init;acpi_eval.isra.0", 1)
    tree = tree_of(writer)
    assert len(stacks(tree, tree.below(["acpi_eval"]))) == 1
    assert not stacks(tree, tree.below(["acpi_eval.isra.0"])), "a name is as the source spells it"


def test_a_programs_function_is_not_the_kernels_of_the_same_name(writer: ProfileWriter) -> None:
    writer.function("reserve [sh]", Space.USER)
    writer.spend("sh-9;reserve [sh]", 1)
    writer.spend("swapper/0-0;start_kernel;reserve", 1)
    tree = tree_of(writer)
    assert stacks(tree, tree.below(["reserve"])) == {"start_kernel;reserve"}
    assert stacks(tree, tree.below(["reserve [sh]"])) == {"reserve [sh]"}


def test_a_stage_and_what_it_calls(writer: ProfileWriter) -> None:
    writer.function("read [SPL]", Space.CODE)
    writer.function("load [SPL]", Space.CODE)
    writer.spend("[SPL];load [SPL];read [SPL]", 3, space=Space.STAGE)
    writer.spend("[SPL];read [SPL]", 4, space=Space.STAGE)
    writer.spend("swapper/0-0;start_kernel", 1)
    tree = tree_of(writer)
    assert int(tree.cost_ns[tree.below(["[SPL]"])].sum()) == 7
    assert int(tree.cost_ns[tree.below(["read [SPL]"])].sum()) == 7
    assert int(tree.cost_ns[tree.below(["load/read [SPL]"])].sum()) == 3


def initcall(name: str, start_ns: int, end_ns: int, task: int = 0) -> Initcall:
    return Initcall(name, "device", start_ns, end_ns, end_ns - start_ns, 0, "swapper/0-1", task, "", True, "0")


def tail_call(writer: ProfileWriter, *, task: int = 0, length: int = 30) -> int:
    """Execute acpi_scan right below do_one_initcall: the initcall jumped there, and has no frame of its own."""
    stack, started = f"{INIT};acpi_scan", writer.t_ns
    node = writer.spend(stack, length)
    writer.span(started, stack, task)
    return node


def test_what_an_initcall_jumped_to_is_that_initcalls(writer: ProfileWriter) -> None:
    writer.task("swapper/0", 1)
    node = tail_call(writer)
    tree = tree_of(writer, initcalls=(initcall("acpi_init", 0, 40), initcall("pci_init", 40, 50)))
    assert tree.ended_in == {node: "acpi_init"}
    assert int(tree.cost_ns[tree.below(["acpi_init"])].sum()) == 30
    heads, of = tree.heads
    assert heads[int(of[node])] == Heading("initcall", "acpi_init")


@pytest.mark.parametrize(
    "initcalls",
    [
        (initcall("acpi_init", 0, 20),),
        (initcall("acpi_init", 10, 40),),
        (initcall("acpi_init", 0, 40, task=1),),
        (initcall("acpi_init", 0, 40), initcall("pci_init", 0, 40)),
        (initcall("acpi_scan", 40, 50), initcall("acpi_init", 0, 40)),
    ],
)
def test_where_it_is_not_sure_which_initcall_jumped_there_none_did(
    initcalls: tuple[Initcall, ...], writer: ProfileWriter
) -> None:
    """It lasted longer, began before, ran in another task, may be of two, or is an initcall itself."""
    for pid in (1, 2):
        writer.task("swapper/0", pid)
    tail_call(writer)
    assert tree_of(writer, initcalls=initcalls).ended_in == {}


def test_calls_in_two_initcalls_are_neithers(writer: ProfileWriter) -> None:
    writer.task("swapper/0", 1)
    tail_call(writer)
    tail_call(writer)
    assert tree_of(writer, initcalls=(initcall("acpi_init", 0, 30), initcall("pci_init", 30, 60))).ended_in == {}


HEADINGS = {
    "[firmware]": Heading("stage", "[firmware]"),
    f"{INIT};acpi_init;acpi_scan": Heading("initcall", "acpi_init"),
    "swapper/0-0;start_kernel;console_init;con_init;reserve": Heading("initcall", "con_init"),
    "swapper/0-0;start_kernel;setup_arch;reserve": Heading("function", "reserve"),
    "kworker-7;ret_from_fork;kthread;worker_thread;process_one_work;work_fn": Heading("work", "work_fn"),
    "kworker-7;ret_from_fork;kthread;worker_thread;process_one_work;async_run_entry_fn;async_fn": Heading(
        "work", "async_fn"
    ),
    "kswapd-9;ret_from_fork;kthread;kswapd;reserve": Heading("thread", "kswapd"),
    "sh-11;entry_SYSCALL_64;do_exit": Heading("process", "sh"),
    "sh-11;[user]": Heading("process", "sh"),
    "sh-11;ret_from_fork;do_exit": Heading("function", "do_exit"),
    "cat-13;main [cat]": Heading("process", "cat"),
    "cat-13;entry_SYSCALL_64": Heading("process", "cat"),
    "kworker/u2:0-8;entry_SYSCALL_64;do_exit": Heading("function", "entry_SYSCALL_64"),
    IDLE: Heading("idle", "default_idle"),
    f"{INIT};acpi_init;asm_common_interrupt;handle_irq": Heading("initcall", "acpi_init"),
    "swapper/0-0;start_kernel;asm_common_interrupt;handle_irq": Heading("interrupt", "asm_common_interrupt"),
    "sh-11;asm_common_interrupt;handle_irq": Heading("interrupt", "asm_common_interrupt"),
    # What leads to a cause has a little time of its own.
    "swapper/0-0;start_kernel": Heading("function", "start_kernel"),
    "swapper/0-0;start_kernel;cpu_startup_entry;do_idle": Heading("idle", "do_idle"),
    "gone-away-12": Heading("function", "gone-away"),
    "sh-11": Heading("process", "sh"),
}


def test_each_node_is_under_the_first_frame_that_says_what_is_done(writer: ProfileWriter) -> None:
    """The stack's own order decides: an interrupt that came within an initcall is within that initcall's cost."""
    nodes = {}
    writer.function("main [cat]", Space.USER)
    for stack in HEADINGS:
        nodes[stack] = writer.spend(stack, 1, space=Space.STAGE if stack.startswith("[") else Space.TASK)
    heads, of = tree_of(writer).heads
    assert {stack: heads[int(of[node])] for stack, node in nodes.items()} == HEADINGS
    assert len(set(heads)) == len(heads)
