"""A made-up boot as large as a real one: as many nodes of the call tree and spans as asked for, the same every time.

Its figures mean nothing. Tasks take turns, call and return at random, sleep, are woken; all adds up as in a profile
that the plugin wrote, so whatever reads a profile can be tried on it.
"""

import random
from dataclasses import dataclass, field

import numpy as np

from bootlab.profile.recorded.profile import Call, Profile, ProfileEvent, Slice, Task
from bootlab.profile.recorded.record_types import (
    COUNTS,
    IDLE,
    NODE,
    NONE,
    SPAN,
    SWITCH,
    SYSCALL,
    WAKE,
    WEIGHT,
    CallKind,
    EventKind,
    Space,
    SwitchFlag,
)

SUBSYSTEMS = (
    "mm sched vfs ext4 acpi pci crypto sha256 rcu irq timer tty virtio blk net tcp cgroup bpf sysfs kobj".split()
)
VERBS = "init alloc free lookup insert remove update walk find copy parse map unmap lock wait wake read write".split()
CUTS = (
    ("image_entry", 0.005), ("kernel_entry", 0.07), ("start_kernel", 0.08), ("initcalls_start", 0.16),
    ("initcalls_end", 0.8), ("init_exec", 0.82), ("first_user_instruction", 0.83), ("ready", 0.95), ("end", 1.0),
)  # fmt: skip


@dataclass
class _Thread:
    number: int
    root: int
    stack: list[tuple[int, int]] = field(default_factory=list)
    asleep_until: int = 0
    space: Space = Space.KERNEL


@dataclass
class LongBoot:
    """Makes the boot step by step; `profile` is what came of it."""

    nodes: int
    length_ns: int
    tasks: int = 60
    seed: int = 1
    span_ns: int = 20_000

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.names = [f"{system}_{verb}" for system in SUBSYSTEMS for verb in VERBS]
        self.names += [
            f"{system}_{verb}_{part}"
            for system in SUBSYSTEMS
            for verb in VERBS
            for part in ("one", "all", "page", "entry")
        ]
        self.names += ["asm_sysvec_apic_timer_interrupt", "entry_SYSCALL_64", "schedule", "msleep"]
        self.kernel = len(self.names)
        self.spaces = [Space.KERNEL] * self.kernel
        self.parents, self.functions = [NONE], [0]
        self.known: dict[tuple[int, int], int] = {}
        self.t_ns = 0
        self.instructions = 0
        self.weights: dict[int, list[int]] = {}
        self.slices: list[Slice] = []
        self.spans: list[tuple[int, int, int, int]] = []
        self.switches: list[tuple[int, ...]] = []
        self.wakes: list[tuple[int, ...]] = []
        self.idles: list[tuple[int, ...]] = []
        self.calls: list[Call] = []
        self.events: list[ProfileEvent] = []
        self.cuts = [(name, int(share * self.length_ns)) for name, share in CUTS]
        self.made: list[Task] = []

    def name(self, text: str, space: Space) -> int:
        self.names.append(text)
        self.spaces.append(space)
        return len(self.names) - 1

    def node(self, parent: int, function: int) -> int:
        key = (parent, function)
        if key not in self.known:
            self.known[key] = len(self.parents)
            self.parents.append(parent)
            self.functions.append(function)
        return self.known[key]

    def spend(self, node: int, instructions: int, calls: int = 0) -> None:
        weight = self.weights.setdefault(node, [0, 0])
        weight[0] += calls
        weight[1] += instructions
        self.instructions += instructions
        self.advance(instructions)

    def advance(self, ns: int) -> None:
        # A step across a cut counts to the slice it began in, as no instruction is split.
        self.t_ns += ns
        while self.cuts and self.t_ns >= self.cuts[0][1]:
            self.cut(self.cuts.pop(0)[0])

    def cut(self, name: str) -> None:
        start = self.slices[-1].end_ns if self.slices else 0
        begun = self.slices[-1].end_instructions if self.slices else 0
        rows = [(node, calls, count) for node, (calls, count) in self.weights.items()]
        weights = np.array(rows, dtype=WEIGHT)
        self.slices.append(Slice(name, start, self.t_ns, begun, self.instructions, weights))
        self.weights = {}

    def task(self, comm: str, pid: int, parent: int | None) -> _Thread:
        number = len(self.made)
        self.made.append(Task(number, parent, pid, pid, ((self.t_ns, comm),), self.t_ns, None))
        root = self.node(0, self.name(f"{comm}-{pid}", Space.TASK))
        return _Thread(number, root, [(root, self.t_ns)])

    def run(self) -> Profile:
        """Return the profile of the whole boot."""
        firmware = self.node(0, self.name("[firmware]", Space.STAGE))
        self.spend(firmware, int(0.005 * self.length_ns), 1)
        stage = self.node(0, self.name("[decompressor]", Space.STAGE))
        inside = [self.node(stage, self.name(f"decompressor+{place:#x}", Space.CODE)) for place in range(0, 64, 16)]
        while self.t_ns < 0.07 * self.length_ns:
            self.spend(self.random.choice(inside), 5000, 1)
        idle = self.task("swapper/0", 0, None)
        init = self.task("swapper/0", 1, 0)
        threads = [idle, init]
        user = [self.name(f"{verb}_{noun} [busybox]", Space.USER) for verb in VERBS for noun in ("line", "file", "env")]
        module = [
            self.name(f"{verb}_{noun} [virtio_blk]", Space.MODULE) for verb in VERBS for noun in ("queue", "disk")
        ]
        current = init
        while self.cuts:
            if len(threads) < self.tasks and self.t_ns > (0.08 + 0.85 * len(threads) / self.tasks) * self.length_ns:
                threads.append(self.new_task(len(threads), user, module))
            self.steps(
                current, user if current.space is Space.USER else module if current.space is Space.MODULE else None
            )
            current = self.next(current, threads)
        self.finish(threads)
        return self.result()

    def new_task(self, number: int, user: list[int], module: list[int]) -> _Thread:
        is_user = self.t_ns > 0.83 * self.length_ns
        comm = (
            f"service{number}"
            if is_user
            else self.random.choice(("kworker/0:", "cryptomgr_test", "kswapd", "jbd2")) + str(number % 7)
        )
        thread = self.task(comm, number + 1, 1)
        thread.space = Space.USER if is_user else self.random.choice((Space.KERNEL, Space.MODULE))
        self.events.append(ProfileEvent(self.t_ns, self.instructions, thread.number, 0, 1, 0, EventKind.FORK, 0, ""))
        if is_user:
            path = f"/usr/sbin/{comm}"
            self.events.append(
                ProfileEvent(self.t_ns, self.instructions, 0, 0, thread.number, 0, EventKind.EXEC, 0, path)
            )
        return thread

    def steps(self, thread: _Thread, more: list[int] | None) -> None:
        # A turn on the CPU: calls and returns. New nodes only while they are wanted.
        for _ in range(self.random.randrange(200, 3000)):
            if not self.cuts:
                return
            node, _since = thread.stack[-1]
            depth = len(thread.stack)
            if depth < 4 or (depth < 45 and self.random.random() < 0.52):
                if more and self.random.random() < 0.3:
                    function = self.random.choice(more)
                else:
                    # Few callees a function, or every stack would be new.
                    function = (self.functions[node] * 7 + int(self.random.paretovariate(1.1)) * 13) % self.kernel
                if (node, function) not in self.known and len(self.parents) >= self.nodes:
                    thread.stack.pop() if depth > 2 else None
                    continue
                child = self.node(node, function)
                thread.stack.append((child, self.t_ns))
                self.spend(child, int(self.random.paretovariate(0.8) * 40) % 60_000, 1)
            else:
                self.leave(thread)
                self.spend(thread.stack[-1][0], self.random.randrange(10, 300))

    def leave(self, thread: _Thread) -> None:
        node, since = thread.stack.pop()
        if self.t_ns - since >= self.span_ns:
            self.spans.append((since, self.t_ns, node, thread.number))
            if len(thread.stack) == 6 and thread.number == 1 and self.t_ns < 0.8 * self.length_ns:
                name = self.functions[node]
                self.calls.append(
                    Call(
                        since, self.t_ns, 0, 0, self.t_ns - since, 0xFFFF_0000 + name, node, 1, CallKind.INITCALL, 0, ""
                    )
                )

    def next(self, current: _Thread, threads: list[_Thread]) -> _Thread:
        ready = [thread for thread in threads[1:] if thread.asleep_until <= self.t_ns and thread is not current]
        if current.number != 0:
            current.asleep_until = self.t_ns + int(self.random.paretovariate(0.7) * 20_000) % (self.length_ns // 12)
        following = self.random.choice(ready) if ready else threads[0]
        flags = SwitchFlag.SLEEPS if current.number else 0
        self.switches.append(
            (self.t_ns, self.instructions, current.number, following.number, current.stack[-1][0], 0, flags)
        )
        if following.number == 0:
            sleeper = min(threads[1:], key=lambda thread: thread.asleep_until)
            halted = self.node(self.node(threads[0].root, 3), 5)
            start = self.t_ns
            self.advance(max(sleeper.asleep_until - self.t_ns, 1))
            self.idles.append((start, self.t_ns, halted, 0, 0))
            self.wakes.append((self.t_ns, sleeper.number, 0, halted, 0, 1))
            self.spend(halted, 400, 1)
            self.switches.append((self.t_ns, self.instructions, 0, sleeper.number, halted, 0, 0))
            return sleeper
        if len(self.switches) > 2 and following.number > 0:
            node = current.stack[-1][0]
            self.wakes.append((self.switches[-1][0], following.number, current.number, node, 0, 0))
        return following

    def finish(self, threads: list[_Thread]) -> None:
        for thread in threads:
            while len(thread.stack) > 1:
                node, since = thread.stack.pop()
                if self.t_ns - since >= self.span_ns:
                    self.spans.append((since, self.t_ns, node, thread.number))

    def result(self) -> Profile:
        nodes = np.zeros(len(self.parents), dtype=NODE)
        nodes["parent"], nodes["function"] = self.parents, self.functions
        return Profile(
            names=self.names, spaces=np.array(self.spaces, dtype=np.int8),
            addresses=np.zeros(len(self.names), dtype=np.uint64), nodes=nodes, slices=self.slices, tasks=self.made,
            switches=np.array(self.switches, dtype=SWITCH), wakes=np.array(self.wakes, dtype=WAKE),
            idles=np.array(self.idles, dtype=IDLE), spans=np.array(self.spans, dtype=SPAN), calls=self.calls,
            events=self.events, syscalls=np.zeros(0, dtype=[*SYSCALL.descr, ("slice", "<i8")]),
            counts=np.zeros(0, dtype=[*COUNTS.descr, ("slice", "<i8")]), end_ns=self.t_ns,
            end_instructions=self.instructions, idle_ns=sum(end - start for start, end, *_ in self.idles),
            kernel_functions=self.kernel, shift=0, complete=True,
        )  # fmt: skip
