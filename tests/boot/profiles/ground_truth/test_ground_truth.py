"""A guest that works and sleeps for known times: its profile shows each, where it happened and how long, to 0.1 %.

What is known comes twice: from the sources (so many instructions in this function), and from the guest's own counter,
which under QEMU's instruction-counting clock is the profile's time in ns.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest

from bootlab.profile.recorded.reader import Profile
from bootlab.profile.recorded.record_types import CallKind, EventKind
from bootlab.profile.tables.processes import Process, find_processes
from bootlab.profile.tables.syscalls import find_syscalls
from bootlab.profile.tree.call_tree import CallTree, build_call_tree
from bootlab.profile.waits.idle_blame import Wait, find_waits
from tests.boot.conftest import CheckUnnoticed, ProfileBoot, Profiled
from tests.boot.profiles.ground_truth.conftest import ROUNDS, SLEEP_MS

pytestmark = [pytest.mark.boot, pytest.mark.network]

LOOP = 2 * ROUNDS
"""Instructions of each busy loop (spin_x86_64.S, process.c); the return is one or two more."""
CALLS, CHILD_STATUS = 1000, 7
"""As in process.c."""
STAMP_NS = 200
"""Instructions between reading the counter and the call that it brackets, with the call itself."""

KNOWN = pytest.mark.promise("profile of known work")
_TRUTH = re.compile(r"ground truth: (\w+) (\d+) (\d+)")


@dataclass(frozen=True)
class Truth:
    """One boot of the guest: what it said itself, and its profile."""

    profiled: Profiled

    @property
    def profile(self) -> Profile:
        return self.profiled.profile

    @cached_property
    def tree(self) -> CallTree:
        return build_call_tree(self.profile)

    @cached_property
    def console(self) -> str:
        return (self.profiled.directory / "console.log").read_text(errors="replace")

    @cached_property
    def stretches(self) -> dict[str, tuple[int, int]]:
        """Name -> begin, end in ns since power-on, by the guest's own counter."""
        return {name: (int(begin), int(end)) for name, begin, end in _TRUTH.findall(self.console)}

    def length_ns(self, name: str) -> int:
        begin, end = self.stretches[name]
        return end - begin

    def nodes(self, function: str) -> list[int]:
        """Return the nodes of a function that did or waited for something."""
        number = self.profile.names.index(function)
        found = np.flatnonzero(self.profile.nodes["function"] == number)
        return [int(node) for node in found if self.tree.total_elapsed_ns[node]]

    def node(self, function: str) -> int:
        """Return the only node of a function."""
        (node,) = self.nodes(function)
        return node

    def process(self, name: str) -> list[Process]:
        found = find_processes(self.profile)
        return [process for process in (*found.processes, *found.kernel_threads) if process.name == name]


def within(measured: int, known: int, parts: float = 0.001) -> bool:
    return abs(measured - known) <= known * parts


@pytest.fixture(scope="session")
def boot_truth(request: pytest.FixtureRequest, profile_boot: ProfileBoot) -> Callable[[str], Truth]:
    """Profile the guest on a kind of machine, once; the module is compiled only for who asks for a machine with it."""

    def boot(machine: str) -> Truth:
        folder: Path = request.getfixturevalue("truth_folder_arm64" if machine == "arm64" else "truth_folder")
        system = folder / "system.toml"
        if machine == "q35":
            system = folder / "q35.toml"
            system.write_text((folder / "system.toml").read_text().replace('"microvm"', '"q35"'))
        return Truth(profile_boot(system))

    return cache(boot)


@pytest.fixture(scope="session", params=["microvm", "q35", pytest.param("arm64", marks=KNOWN)])
def truth(request: pytest.FixtureRequest, boot_truth: Callable[[str], Truth]) -> Truth:
    """The guest on each kind of machine."""
    return boot_truth(request.param)


@pytest.fixture(scope="session", params=["microvm", "q35"])
def module_truth(request: pytest.FixtureRequest, boot_truth: Callable[[str], Truth]) -> Truth:
    """The guests that have the module: there is no compiler for arm64's kernel here."""
    return boot_truth(request.param)


def test_the_guest_did_its_work(truth: Truth) -> None:
    """What the guest says of itself is what its sources say: else there is nothing to compare with."""
    assert "ground truth failed" not in truth.console
    assert {"process_spins", "process_sleeps", "process_calls", "process_waits"} <= set(truth.stretches)
    # The timer's interrupts are in it, four or so in 50 ms.
    assert within(truth.length_ns("process_spins"), LOOP, 0.01)
    assert within(truth.length_ns("process_sleeps"), SLEEP_MS * 1_000_000)


def check_loop(truth: Truth, function: str, root: str, *path: str) -> None:
    node = truth.node(function)
    assert within(int(truth.tree.self_instructions[node]), LOOP)
    # Closer than asked: the loop, its return and nothing else. Interrupts in between are below it, not in it.
    assert 0 <= truth.tree.self_instructions[node] - LOOP <= 2
    names = truth.profile.path(node)
    assert re.fullmatch(root, names[0])
    assert names[-len(path) - 1 : -1] == list(path), names


def test_loop_in_a_module_s_init_function(module_truth: Truth) -> None:
    init = "ground_truth_init [ground_truth]"
    check_loop(module_truth, "ground_truth_spin_in_init [ground_truth]", r"insmod-\d+", "do_one_initcall", init)


def test_loop_in_a_kernel_thread(module_truth: Truth) -> None:
    thread = "ground_truth_thread [ground_truth]"
    check_loop(module_truth, "ground_truth_spin_in_thread [ground_truth]", r"truth-thread-\d+", "kthread", thread)


def test_loops_in_a_process_and_its_child(truth: Truth) -> None:
    for function in ("ground_truth_spin", "ground_truth_spin_in_child"):
        check_loop(truth, f"{function} [ground-truth]", r"ground-truth-\d+", "start [ground-truth]")


def check_span(truth: Truth, stretch: str, function: str) -> None:
    """The frame lasted from when to when the guest says, and so long the tree says it was in it."""
    node = truth.node(function)
    (span,) = truth.profile.spans[truth.profile.spans["node"] == node]
    begin, end = truth.stretches[stretch]
    assert 0 <= int(span["start_ns"]) - begin <= STAMP_NS
    assert 0 <= end - int(span["end_ns"]) <= STAMP_NS
    assert within(int(truth.tree.total_elapsed_ns[node]), end - begin)


@pytest.mark.parametrize(
    ("stretch", "function"),
    [
        ("thread_sleeps", "ground_truth_sleep [ground_truth]"),
        ("thread_sleeps_exactly", "ground_truth_sleep_exactly [ground_truth]"),
        ("thread_spins", "ground_truth_spin_in_thread [ground_truth]"),
        ("init_spins", "ground_truth_spin_in_init [ground_truth]"),
    ],
)
def test_stretches_of_the_module(stretch: str, function: str, module_truth: Truth) -> None:
    check_span(module_truth, stretch, function)


@pytest.mark.parametrize(
    ("stretch", "function"),
    [
        ("process_spins", "ground_truth_spin [ground-truth]"),
        ("process_sleeps", "ground_truth_sleep [ground-truth]"),
        ("process_calls", "ground_truth_calls [ground-truth]"),
    ],
)
def test_stretches_of_the_process(stretch: str, function: str, truth: Truth) -> None:
    check_span(truth, stretch, function)


def waits_of(truth: Truth, task: str, inside: str) -> list[Wait]:
    """Return the waits of a task within a stretch, longest first."""
    begin, end = truth.stretches[inside]
    found = find_waits(truth.profile, None).waits
    return [wait for wait in found if wait.name.startswith(task) and begin <= wait.start_ns < end]


def test_waits_of_the_module(module_truth: Truth) -> None:
    truth = module_truth
    (jiffies, *_) = waits_of(truth, "truth-thread-", "thread_sleeps")
    assert jiffies.function == "msleep"
    assert jiffies.caller == "ground_truth_sleep [ground_truth]"
    assert within(jiffies.duration_ns, truth.length_ns("thread_sleeps"))
    (exact, *_) = waits_of(truth, "truth-thread-", "thread_sleeps_exactly")
    assert within(exact.duration_ns, truth.length_ns("thread_sleeps_exactly"))
    for wait in (jiffies, exact):
        assert wait.waker is not None and wait.waker.kind == "timer", "nobody but the timer ends a sleep"

    # insmod waits for the thread, through its work and its sleeps, and it is the thread that wakes it.
    (completion, *_) = waits_of(truth, "insmod-", "init_waits")
    assert (completion.kind, completion.function) == ("completion", "wait_for_completion")
    assert completion.caller in ("ground_truth_wait [ground_truth]", "ground_truth_init [ground_truth]")
    assert within(completion.duration_ns, truth.length_ns("init_waits"))
    assert completion.waker is not None
    assert (completion.waker.kind, completion.waker.name.startswith("truth-thread-")) == ("task", True)


def test_waits_of_the_process(truth: Truth) -> None:
    (sleep, *_) = waits_of(truth, "ground-truth-", "process_sleeps")
    assert within(sleep.duration_ns, truth.length_ns("process_sleeps"))
    assert sleep.waker is not None and sleep.waker.kind == "timer"
    (child, *_) = waits_of(truth, "ground-truth-", "process_waits")
    assert child.kind == "child"
    assert within(child.duration_ns, truth.length_ns("process_waits"), 0.01)


def test_idle_is_the_sleeps(truth: Truth) -> None:
    """While its only program sleeps the machine is idle, but for the timer: idle and instructions make up the time."""
    begin, end = truth.stretches["process_sleeps"]
    idles = truth.profile.idles
    inside = np.minimum(idles["end_ns"], end) - np.maximum(idles["start_ns"], begin)
    idle_ns = int(inside[inside > 0].sum())
    assert within(idle_ns, SLEEP_MS * 1_000_000, 0.01)
    # And all of the boot's idle time, to the ns.
    finish = truth.profiled.trace.end
    assert finish is not None
    assert int((idles["end_ns"] - idles["start_ns"]).sum()) == finish.t_ns - finish.instructions
    assert truth.profiled.document["account"]["idle_ns"] == finish.t_ns - finish.instructions


def test_processes(truth: Truth) -> None:
    processes = truth.process("ground-truth")
    assert len(processes) == 2
    parent, child = processes
    assert parent.exit_status == 0
    assert child.exit_status == CHILD_STATUS
    assert child.parent == parent.task
    assert [path for _, path in parent.programs] == ["/bin/ground-truth"]
    assert within(child.instructions, LOOP, 0.01), "but for its fork, exit and the timer"
    begin, end = truth.stretches["process_waits"]
    assert begin < child.started_ns < end
    assert child.exited_ns is not None and begin < child.exited_ns < end
    started = {event.a for event in truth.profile.events if event.kind == EventKind.FORK}
    assert {parent.task, child.task} <= started


def test_the_module_s_init_function_is_an_initcall(module_truth: Truth) -> None:
    profile = module_truth.profile
    begin, end = module_truth.stretches["init_spins"][0], module_truth.stretches["init_waits"][1]
    calls = [call for call in profile.calls if call.kind == CallKind.INITCALL and call.start_ns <= begin < call.end_ns]
    assert len(calls) == 1
    assert within(calls[0].end_ns - calls[0].start_ns, end - begin)
    (module,) = [call for call in profile.calls if call.kind == CallKind.MODULE and call.text == "ground_truth"]
    assert module.start_ns <= calls[0].start_ns < calls[0].end_ns <= module.end_ns


def test_system_calls(truth: Truth) -> None:
    parent = truth.process("ground-truth")[0]
    (of_parent,) = [found for found in find_syscalls(truth.profile) if found.task == parent.task]
    by_name = {call.name: call for call in of_parent.syscalls}
    assert by_name["getppid"].calls == CALLS
    sleep = by_name["clock_nanosleep"]
    assert sleep.calls == 1
    assert within(sleep.elapsed_ns, truth.length_ns("process_sleeps"))
    assert by_name["write"].calls == 4
    assert "exit" in by_name or "exit_group" in by_name


def test_the_guest_cannot_tell(truth: Truth, check_unnoticed: CheckUnnoticed) -> None:
    """Console, time stamps and the guest's own readings of its counter are the same without plugin and with marks."""
    assert len(truth.stretches) >= 4, "the console that is compared holds readings of the counter"
    check_unnoticed(truth.profiled.system, truth.profiled)
    marks = truth.profiled.trace.guest_marks
    begin, end = truth.stretches["process_spins"][0], truth.stretches["process_waits"][1]
    assert marks["truth_begin"].t_ns < begin < end < marks["truth_end"].t_ns, "both clocks are one"
