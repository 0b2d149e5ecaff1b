"""A writer of the plugin's profile format, so that tests can say what a boot did, and boots made up at random."""

import random
import struct
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from bootlab.profile.recorded.record_types import (
    MAGIC,
    NONE,
    RECORD,
    WITH_TEXT,
    ChunkKind,
    EventKind,
    Space,
    SwitchFlag,
)


class ProfileWriter:
    """Writes a profile as the plugin does; time goes on with `spend` (instructions, 1 ns each) and `idle`.

    Tasks, functions and nodes are made as they are named. Stacks are written `task;function;function`.
    """

    def __init__(self, functions: tuple[str, ...] = ("start_kernel", "schedule", "do_one_initcall", "msleep")) -> None:
        self.functions = functions
        self.numbers = {name: number for number, name in enumerate(functions)}
        self.nodes: dict[tuple[int, int], int] = {(NONE, 0): 0}
        self.chunks: list[tuple[int, bytes]] = []
        self.pending: dict[ChunkKind, list[tuple[object, ...]]] = defaultdict(list, {ChunkKind.NODE: [(NONE, 0)]})
        self.weights: dict[int, list[int]] = {}
        self.t_ns = self.instructions = self.idle_ns = 0
        self.tasks = 0
        self.counts = (1000, 0, 2000, 10, 0, 900)

    def function(self, name: str, space: Space = Space.CODE, address: int = 0) -> int:
        """Return the number of a function, named in the file if it is new."""
        if name not in self.numbers:
            self.numbers[name] = len(self.numbers)
            text = name.encode()
            self.text(ChunkKind.NAME, (self.numbers[name], space, len(text), address), text)
        return self.numbers[name]

    def node(self, stack: str, space: Space = Space.TASK) -> int:
        """Return the node of a stack. `space` is that of its first frame, if it is new."""
        node = 0
        for place, name in enumerate(filter(None, stack.split(";"))):
            in_brackets = Space.OTHER if name[0] == "[" else Space.MODULE if name.endswith("]") else Space.CODE
            if name == "[firmware]":
                in_brackets = Space.STAGE
            key = (node, self.function(name, in_brackets if place else space))
            if key not in self.nodes:
                self.nodes[key] = len(self.nodes)
                self.pending[ChunkKind.NODE].append(key)
            node = self.nodes[key]
        return node

    def task(self, comm: str, pid: int, parent: int = NONE, *, number: int | None = None) -> int:
        """Return the number of a new task; with `number` an old one that has a new name or pid."""
        if number is None:
            number, self.tasks = self.tasks, self.tasks + 1
        self.add(ChunkKind.TASK, self.t_ns, number, parent, pid, pid, comm.encode())
        return number

    def spend(self, stack: str, instructions: int, calls: int = 1, space: Space = Space.TASK) -> int:
        """Execute so many instructions at the end of a stack; return its node."""
        node = self.node(stack, space)
        weight = self.weights.setdefault(node, [0, 0])
        weight[0] += calls
        weight[1] += instructions
        self.t_ns += instructions
        self.instructions += instructions
        return node

    def idle(self, stack: str, ns: int, vcpu: int = 0) -> None:
        """Let the clock run while nothing does."""
        self.add(ChunkKind.IDLE, self.t_ns, self.t_ns + ns, self.node(stack), vcpu, 0)
        self.t_ns += ns
        self.idle_ns += ns

    def switch(self, previous: int, next: int, stack: str, flags: int = SwitchFlag.SLEEPS, vcpu: int = 0) -> None:
        """Switch tasks; the previous one leaves off at the end of `stack`."""
        self.add(ChunkKind.SWITCH, self.t_ns, self.instructions, previous, next, self.node(stack), vcpu, flags)

    def wake(self, wakee: int, waker: int, stack: str, flags: int = 0) -> None:
        """Wake a task up, from the end of the waker's `stack`."""
        self.add(ChunkKind.WAKE, self.t_ns, wakee, waker, self.node(stack), 0, flags)

    def span(self, start_ns: int, stack: str, task: int) -> None:
        """Record that a frame that began at `start_ns` has ended."""
        self.add(ChunkKind.SPAN, start_ns, self.t_ns, self.node(stack), task)

    def call(
        self, kind: int, start_ns: int, stack: str, task: int, *, argument: int = 0, text: str = "", own: int = 0
    ) -> None:
        """Record a call of a watched function that began at `start_ns` and has ended."""
        node = self.node(stack)
        fields = (start_ns, self.t_ns, 0, self.instructions, own, argument, node, task, kind, 0, len(text))
        self.text(ChunkKind.CALL, fields, text.encode())

    def event(self, kind: EventKind, task: int, stack: str, *, a: int = 0, b: int = 0, text: str = "") -> None:
        """Record an event of the current task."""
        fields = (self.t_ns, self.instructions, a, b, task, self.node(stack), kind, 0, len(text))
        self.text(ChunkKind.EVENT, fields, text.encode())

    def syscall(self, task: int, function: str, calls: int, elapsed_ns: int, instructions: int) -> None:
        """Record the calls of one system call by one task since the last cut."""
        self.add(ChunkKind.SYSCALL, task, self.function(function), calls, elapsed_ns, instructions)

    def add(self, kind: ChunkKind, *fields: object) -> None:
        """Add one record of a kind that comes in arrays."""
        self.pending[kind].append(fields)

    def text(self, kind: ChunkKind, fields: tuple[int, ...], text: bytes) -> None:
        """Write a chunk of one record and its text."""
        assert kind in WITH_TEXT
        record = np.array([fields], dtype=RECORD[kind]).tobytes()
        self.chunks.append((kind, record + text + bytes(-len(text) % 8)))

    def flush(self) -> None:
        """Write the records that are pending."""
        weights = [(node, calls, instructions) for node, (calls, instructions) in self.weights.items()]
        self.pending[ChunkKind.WEIGHT] += weights
        self.weights = {}
        for kind in ChunkKind:
            if self.pending[kind]:
                self.chunks.append((kind, np.array(self.pending.pop(kind), dtype=RECORD[kind]).tobytes()))

    def cut(self, name: str) -> None:
        """End a slice."""
        self.add(ChunkKind.COUNTS, *self.counts)
        self.flush()
        self.text(ChunkKind.CUT, (self.t_ns, self.instructions, len(name)), name.encode())

    def end(self) -> bytes:
        """End the profile and return it."""
        self.add(ChunkKind.COUNTS, *self.counts)
        self.flush()
        self.add(ChunkKind.END, self.t_ns, self.instructions, self.idle_ns)
        self.flush()
        return self.data()

    def data(self) -> bytes:
        """Return what is written so far."""
        return MAGIC + b"".join(struct.pack("<II", kind, len(body)) + body for kind, body in self.chunks)


@dataclass
class Truth:
    """What a random boot did, counted as it was made up.

    `instructions`: by (slice, stack). `off_cpu_ns`: by (slice, stack it left off in, why). `lives`: task -> ns from its
    start to its exit or the end. `labels`: task -> name of its root.
    """

    instructions: dict[tuple[int, str], int] = field(default_factory=lambda: defaultdict(int))
    off_cpu_ns: dict[tuple[int, str, str], int] = field(default_factory=lambda: defaultdict(int))
    lives: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)


class RandomBoot:
    """A boot of a few tasks on one vCPU that run, sleep, wake and preempt each other as the dice fall."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.writer = ProfileWriter()
        self.truth = Truth()
        self.slice = 0
        self.current = 0
        self.state: dict[int, str] = {0: "running"}
        self.since: dict[int, int] = {}
        self.left: dict[int, str] = {}
        self.started: dict[int, int] = {0: 0}
        self.writer.task("swapper", 0)
        self.truth.labels[0] = "swapper-0"

    def stack(self) -> str:
        """Return a random stack of the current task; functions call themselves at times."""
        depth = self.dice.randrange(1, 8)
        return ";".join([self.truth.labels[self.current], *(self.dice.choice("abcdef") for _ in range(depth))])

    def run(self) -> None:
        """Execute something."""
        stack, instructions = self.stack(), self.dice.randrange(1, 1000)
        self.writer.spend(stack, instructions)
        self.truth.instructions[self.slice, stack] += instructions

    def fork(self) -> None:
        """Make a task that can run."""
        number = self.writer.task("work:er", self.writer.tasks, self.current)
        self.truth.labels[number] = f"work:er-{number}"
        self.state[number], self.left[number] = "[runnable]", f"work:er-{number}"
        self.since[number] = self.started[number] = self.writer.t_ns

    def switch(self) -> None:
        """Let another task run, whatever the reason."""
        ready = [task for task, state in self.state.items() if state == "[runnable]"]
        if not ready:
            return self.wait_for_wake()
        chosen, stack = self.dice.choice(ready), self.stack()
        # Nothing is done twice at the same instruction.
        self.run()
        self.put_down(chosen)
        flags, state = self.dice.choice([(SwitchFlag.SLEEPS, "[wait]"), (0, "[runnable]")])
        if self.current and self.dice.random() < 0.1:
            flags, state = SwitchFlag.DEAD, "dead"
            self.truth.lives[self.current] = self.writer.t_ns - self.started[self.current]
        if self.current == 0:
            flags, state = 0, "[runnable]"
        self.state[self.current], self.since[self.current], self.left[self.current] = state, self.writer.t_ns, stack
        self.writer.switch(self.current, chosen, stack, flags)
        self.current, self.state[chosen] = chosen, "running"
        return None

    def put_down(self, task: int) -> None:
        """Count what a task's present state has lasted in this slice."""
        if task and self.state[task] in ("[wait]", "[runnable]"):
            self.truth.off_cpu_ns[self.slice, self.left[task], self.state[task]] += self.writer.t_ns - self.since[task]
        self.since[task] = self.writer.t_ns

    def wait_for_wake(self) -> None:
        """Wake a sleeper, after idling if the idle task has the CPU."""
        asleep = [task for task, state in self.state.items() if state == "[wait]"]
        if not asleep:
            return
        if self.current == 0:
            stack, ns = self.stack(), self.dice.randrange(1, 5000)
            self.writer.idle(stack, ns)
            self.truth.off_cpu_ns[self.slice, stack, "[idle]"] += ns
        task = self.dice.choice(asleep)
        self.run()
        self.put_down(task)
        self.writer.wake(task, self.current, self.stack())
        self.state[task] = "[runnable]"

    def has_run(self) -> set[str]:
        """Return the names of the tasks that have executed anything."""
        return {stack.partition(";")[0] for _, stack in self.truth.instructions}

    def cut(self) -> None:
        """End a slice."""
        for task in self.state:
            self.put_down(task)
        self.writer.cut(f"mark{self.slice}")
        self.slice += 1

    def finish(self) -> bytes:
        """Boot, and return the profile."""
        steps = [self.run] * 6 + [self.switch] * 4 + [self.wait_for_wake] * 3 + [self.fork, self.cut]
        for step in self.dice.choices(steps, k=400):
            step()
        for task in self.state:
            self.put_down(task)
            if task and self.state[task] != "dead":
                self.truth.lives[task] = self.writer.t_ns - self.started[task]
        return self.writer.end()


@pytest.fixture
def profile_writer() -> ProfileWriter:
    """A writer of the binary format."""
    return ProfileWriter()


@pytest.fixture
def make_boot() -> Callable[[int], RandomBoot]:
    """Make a random boot out of a seed."""
    return RandomBoot
