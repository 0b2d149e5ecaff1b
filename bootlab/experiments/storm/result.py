"""What a launch storm has shown: each machine's time, what it took of the host, and what held the machines up."""

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.measure.record import Outcome
from bootlab.measure.statistics.series import median_ns
from bootlab.measure.storm import Storm, StormMachine

SCHEMA: Final = "bootlab.storm/1"
_HALF: Final = 0.5

CAUSES: Final = (
    ("rtnl", "the host's network lock (rtnl): taps are made and taken one after the other"),
    ("cgroup", "cgroups: their lock is global unless they are mounted with favordynmods"),
    ("kvm", "KVM's own locks"),
    ("folio", "pages that are read from the disk"),
    ("io_schedule", "pages that are read from the disk"),
    ("wait_on_page", "pages that are read from the disk"),
    ("rwsem", "a lock of the host's kernel for reading and writing (a process' memory map, cgroups)"),
    ("mutex", "a lock of the host's kernel"),
    ("percpu_down", "a lock of the host's kernel for reading and writing (cgroups)"),
)
"""What is in the name of the kernel's function, and what a thread waits for that is held up in it."""


class StormBoot(Document):
    """One machine of a storm; times in ns."""

    number: int
    outcome: Outcome
    detail: str
    due_ns: int
    """When it was to be launched, since the storm's begin."""
    took_ns: int | None
    """From then to ready; None: it was not."""
    launch_ns: int | None
    """Of it, what the VMM took before the guest's first instruction; None where that is not known."""
    ran_ns: int | None
    waited_ns: int | None
    """Of its hungriest thread: on a CPU, and ready to run without one."""
    minor_faults: int | None
    major_faults: int | None
    pss_kib: int | None
    """Its memory with all machines up, shared pages divided."""
    ended_early: bool = Field(default=False, exclude_if=lambda value: not value)
    """It was ready, and had ended by itself before the last one was up: its memory is in no figure."""
    run: str


class StormResult(Document):
    """A launch storm."""

    schema_: Literal["bootlab.storm/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    accelerator: str
    number: int
    per_second: float | None
    """How many were launched a second; None: all at once."""
    ready: int
    p50_ns: int | None
    p99_ns: int | None
    """Of those that were ready, from when each was due; nearest rank, so that of fewer than 100 p99 is the longest."""
    last_ns: int | None
    """From the storm's begin to the last that became ready."""
    cores: int
    on_cpu_ns: int
    without_cpu_ns: int
    elsewhere_ns: int
    """Of all machines up to ready: their hungriest thread on a CPU, ready but without one, and neither."""
    held_up: dict[str, int]
    """Kernel function -> how often a machine was seen with a thread held up in it."""
    looks: int
    """How often a machine that was not up yet was looked at, every 200 ms each."""
    pressure_us: dict[str, int]
    """For how long some task of the host was held up for want of cpu, memory, io (PSI)."""
    host_memory_kib: int
    """What the host could give less with all machines up than before the storm."""
    own_cpu_ns: int
    """What bootlab itself took of the host's CPUs."""
    took_ns: int
    serialised_by: list[str]
    """In words, the heaviest first."""
    machines: list[StormBoot]
    run: str

    @property
    def good(self) -> bool:
        """Return whether every machine was ready."""
        return self.ready == self.number


def storm_result(storm: Storm, system: str, rate: float | None, cores: int, run: str) -> StormResult:
    """Return what a storm has shown. `rate`: machines a second; `cores`: CPUs of this host that it had."""
    machines = [_machine(one) for one in storm.machines]
    times = sorted(one.took_ns for one in machines if one.took_ns is not None)
    up = [one for one in machines if one.took_ns is not None]
    on_cpu = sum(one.ran_ns or 0 for one in up)
    without = sum(one.waited_ns or 0 for one in up)
    first = next((one.record for one in storm.machines if one.record is not None), None)
    result = StormResult(
        system=system,
        accelerator=first.accelerator if first is not None else "",
        number=len(machines),
        per_second=rate,
        ready=len(times),
        p50_ns=rank(times, 0.50),
        p99_ns=rank(times, 0.99),
        last_ns=max((one.due_ns + (one.took_ns or 0) for one in up), default=None),
        cores=cores,
        on_cpu_ns=on_cpu,
        without_cpu_ns=without,
        elsewhere_ns=max(0, sum(times) - on_cpu - without),
        held_up=dict(storm.held_up.most_common()),
        looks=storm.looks,
        pressure_us=storm.pressure_us,
        host_memory_kib=storm.memory_kib,
        own_cpu_ns=storm.own_cpu_ns,
        took_ns=storm.took_ns,
        serialised_by=[],
        machines=machines,
        run=run,
    )
    return result.model_copy(update={"serialised_by": serialised_by(result)})


def rank(ordered: Sequence[int], share: float) -> int | None:
    """Return the value at the nearest rank of a sorted sequence; None of an empty one."""
    if not ordered:
        return None
    return ordered[max(0, -(-len(ordered) * round(share * 100) // 100) - 1)]


def serialised_by(result: StormResult) -> list[str]:
    """Return what made machines wait for each other, in words, the heaviest first; empty where nothing did."""
    whole = result.on_cpu_ns + result.without_cpu_ns + result.elsewhere_ns
    if not whole:
        return []
    weighed: list[tuple[float, str]] = []
    crowd = result.without_cpu_ns / whole
    if crowd >= 0.1:
        words = f"CPUs: {result.number} machines on {result.cores}; ready to run and without one for {crowd:.0%}"
        weighed.append((crowd, f"{words} of their time"))
    seen: dict[str, int] = {}
    for function, times in result.held_up.items():
        known = next((words for part, words in CAUSES if part in function), None)
        words = f"{known} ({function})" if known is not None else f"the host's kernel, in {function}"
        seen[words] = seen.get(words, 0) + times
    for words, times in seen.items():
        if (share := times / max(1, result.looks)) >= 0.02:
            weighed.append((share, f"{words}: seen in {share:.0%} of looks"))
    own = result.own_cpu_ns / max(1, result.took_ns)
    if own >= _HALF:
        words = f"bootlab itself, which took {own:.0%} of one CPU to follow them: the host alone is faster than this"
        weighed.append((own / result.cores, words))
    return [words for _, words in sorted(weighed, key=lambda one: -one[0])]


def median_kib(result: StormResult) -> int | None:
    """Return the median of the machines' memory; None where it is not known of any."""
    known = [one.pss_kib for one in result.machines if one.pss_kib is not None]
    return median_ns(known) if known else None


def _machine(one: StormMachine) -> StormBoot:
    record, use = one.record, one.use
    assert record is not None
    return StormBoot(
        number=one.number,
        outcome=record.outcome,
        detail=record.detail,
        due_ns=one.due_ns,
        took_ns=None if one.ready_ns is None else one.ready_ns - one.due_ns,
        launch_ns=None if record.vmm is None else record.vmm.launch_ns,
        ran_ns=None if use is None else use.ran_ns,
        waited_ns=None if use is None else use.waited_ns,
        minor_faults=None if use is None else use.minor_faults,
        major_faults=None if use is None else use.major_faults,
        pss_kib=one.pss_kib,
        ended_early=one.ended_early,
        run=record.run,
    )
