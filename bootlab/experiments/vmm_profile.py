"""Where a VMM's own time goes: its ioctls of KVM, timed from outside by strace, over several boots.

Boots without strace, in turn with them, say what the tracing costs, and how many of the host's page faults a boot has.
What is long has an advice that names the host's setting and how to change it; bootlab changes none.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed, InputError
from bootlab.experiments.importing import Imported, ImportedFile, ImportResult
from bootlab.experiments.store import Run
from bootlab.importers.importer import Options
from bootlab.importers.reading.source import Source
from bootlab.importers.reading.tally import Tally
from bootlab.importers.registry import read_recording
from bootlab.importers.vmm.strace import CREATE_VM, RUN, Calls, parse
from bootlab.measure.boot import boot
from bootlab.measure.host.kvm_settings import KvmSettings, read_kvm_settings
from bootlab.measure.host.process_use import ProcessUse, read_use
from bootlab.measure.launch import whole_ns
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.statistics.series import humps, median_ns
from bootlab.process import require_program
from bootlab.system import System
from bootlab.targets.machine_process import VMM_TRACE
from bootlab.targets.target import OpenedMachine, Prepared
from bootlab.timeline.recording import Series

PLAIN: Final = "plain"
TRACED: Final = "traced"
_MEMORY: Final = ("KVM_SET_USER_MEMORY_REGION", "KVM_SET_USER_MEMORY_REGION2", "KVM request 0x49")
"""QEMU takes the second where the kernel has it (6.8); a strace older than that has no name for it."""
_FEW_SLOTS: Final = 4
"""So often memory slots are changed for the memory itself, and a firmware that is mapped once."""
_LONG_NS: Final = 5_000_000
"""Making a VM takes less than a millisecond where nothing holds it up."""


class _Watch:
    """Reads what a VMM has used as its guest is ready."""

    def __init__(self) -> None:
        self.use: ProcessUse | None = None

    def opened(self, opened: OpenedMachine) -> None:
        """Take no note of it."""

    async def ready(self, opened: OpenedMachine, ready_ns: int) -> None:
        pid = None if opened.pid is None else opened.pid()
        self.use = None if pid is None else read_use(pid)


def profile_vmm(system: System, pairs: int, run: Run, shop: Workshop, tell: Callable[[str], None]) -> ImportResult:
    """Boot `pairs` times with strace and as often without, and return the last trace with what all of them show.

    Raises InputError for a system that no VMM of this host boots by KVM, MissingTool for want of strace, BootFailed
    where a boot is not ready.
    """
    require_program("strace", package="strace")
    plain = prepare(shop, system)
    traced = plain.tracing_vmm()
    if plain.runs_on != "kvm":
        raise InputError(
            f"clock.kind: on the wall clock a profile is of a VMM at work with KVM; this boots under {plain.runs_on}",
            hint='clock.kind = "virtual" counts the instructions of the guest',
        )
    watch = _Watch()
    times: dict[str, list[int]] = {PLAIN: [], TRACED: []}
    traces: list[Calls] = []
    path = Path()
    for number in range(1, pairs + 1):
        tell(f"boot {number} of {pairs}")
        times[PLAIN].append(_boot(plain, run.boot_directory(f"{PLAIN}-{number}"), watch))
        tell(f"boot {number} of {pairs} under strace")
        directory = run.boot_directory(f"{TRACED}-{number}")
        times[TRACED].append(_boot(traced, directory, None))
        path = directory / VMM_TRACE
        with path.open(encoding="utf-8", errors="replace") as rows:
            traces.append(parse(rows, Tally()))
    source = Source(VMM_TRACE, io.BytesIO(path.read_bytes()))
    recording = read_recording(source, Options())
    source.drain()
    notes = [_cost(times), *advice(traces, watch.use, system.machine.memory_mib, read_kvm_settings())]
    recording = replace(recording, series=request_series(traces), notes=(*notes, *recording.notes))
    file = ImportedFile(VMM_TRACE, recording.format, source.size, source.sha256, source.account())
    return ImportResult((Imported(system.name, (file,), recording, ()),))


def request_series(traces: Sequence[Calls]) -> tuple[Series, ...]:
    """Return what each request took in each boot, all its calls added up, the heaviest first; none of one boot."""
    if len(traces) < 2:
        return ()
    names = {name for calls in traces for name in calls.took_ns}
    heaviest = sorted(names, key=lambda name: -sum(calls.took_ns[name] for calls in traces))
    return tuple(
        Series(name, "ns", tuple(float(calls.took_ns[name]) for calls in traces)) for name in heaviest if name != RUN
    )


def advice(traces: Sequence[Calls], use: ProcessUse | None, memory_mib: int, host: KvmSettings) -> list[str]:
    """Return what is long in these boots, and which setting of the host it hangs on: a sentence or two each."""
    found = [_making(traces, host)]
    slots = median_ns([sum(calls.took_ns[name] for name in _MEMORY) for calls in traces])
    times = median_ns([sum(calls.counts[name] for name in _MEMORY) for calls in traces])
    found.append(f"Memory slots were changed {times} times, for {slots / 1e6:.3f} ms{_slots_hint(times)}.")
    exits = median_ns([calls.counts[RUN] for calls in traces])
    found.append(f"The guest left for the VMM {exits} times (KVM_RUN): docs/price.md says by which of its functions.")
    if use is not None:
        found.append(_faults(use, memory_mib, host))
    return [line for line in found if line]


def _slots_hint(times: int) -> str:
    if times <= _FEW_SLOTS:
        return ""
    return (
        ': firmware that maps itself in and out does that, and kernel.entry = "pvh" on microvm, Firecracker and Cloud '
        "Hypervisor have no such firmware"
    )


def _making(traces: Sequence[Calls], host: KvmSettings) -> str:
    made = [span.end_ns - span.start_ns for calls in traces for span in calls.of(CREATE_VM)]
    if not made:
        return "No VM was made: nothing of KVM was seen."
    middle = median_ns(made)
    words = f"{CREATE_VM} took {middle / 1e6:.3f} ms (median of {len(made)}; {min(made) / 1e6:.3f} to "
    words += f"{max(made) / 1e6:.3f})"
    if (two := humps(made)) is not None:
        words += f", in two humps around {two.low.median_ns / 1e6:.3f} and {two.high.median_ns / 1e6:.3f} ms"
    if middle < _LONG_NS and max(made) < _LONG_NS:
        return f"{words}: nothing holds it up here."
    ways = []
    if host.favordynmods is False:
        ways.append(f"cgroups are mounted without favordynmods (as root: mount -o remount,favordynmods {host.cgroups})")
    # N is a mitigation that is off; the thread is there all the same (kvm_mmu_post_init_vm, linux 6.5).
    if host.nx_huge_pages not in (None, "never"):
        ways.append(
            f"KVM makes a thread for each VM and moves it into its cgroup (kvm.nx_huge_pages is {host.nx_huge_pages}; "
            "`never` makes none, for CPUs without the iTLB multihit erratum)"
        )
    return f"{words}. " + ("; ".join(ways) + "." if ways else "No setting of this host that is known to do this is on.")


def _faults(use: ProcessUse, memory_mib: int, host: KvmSettings) -> str:
    words = f"The VMM had {use.minor_faults + use.major_faults} page faults up to ready, {use.major_faults} of which "
    words += f"read a disk; its guest has {memory_mib} MiB, which is {memory_mib << 8} pages of 4 KiB."
    if host.huge_pages != "always":
        told = host.huge_pages or "not there"
        words += f" Transparent huge pages are {told} here (/sys/kernel/mm/transparent_hugepage/enabled);"
        words += ' machine.page_size = "2M" or target.huge_pages = "2M" takes reserved ones (sysctl vm.nr_hugepages).'
    return words


def _cost(times: dict[str, list[int]]) -> str:
    plain, traced = (median_ns(times[name]) for name in (PLAIN, TRACED))
    return (
        f"From the VMM's start to ready {plain / 1e6:.3f} ms without strace, {traced / 1e6:.3f} ms with it (medians of "
        f"{len(times[PLAIN])} boots each): the shares below are of boots with it."
    )


def _boot(prepared: Prepared, directory: Path, watch: _Watch | None) -> int:
    record: BootRecord = boot(prepared, directory, watcher=watch)
    taken = whole_ns(record)
    if record.outcome is not Outcome.READY or taken is None:
        raise BootFailed(
            f"{directory.name}: {record.outcome.value}: {record.detail}", hint=f"its console is {directory}/console.log"
        )
    return taken
