"""A profiled boot, read and interpreted: everything that its terminal view, page, JSON and exports are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bootlab.errors import InputError
from bootlab.findings.advise import Advice, advise
from bootlab.findings.cost_tree import CostTree
from bootlab.findings.kvm_price import KvmPrice, price_profile
from bootlab.findings.technique_evidence import measured_of
from bootlab.measure.record import BootRecord
from bootlab.price.host_model import HostModel
from bootlab.profile.asked.marks import INITCALL
from bootlab.profile.asked.profiling import FUNCTIONS, function_names, read_functions
from bootlab.profile.recorded.about import PROFILE, AboutProfile, read_about
from bootlab.profile.recorded.disk_files import DISK_FILES, read_disk_files
from bootlab.profile.recorded.disk_requests import REQUESTS, read_disk_requests
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import read_profile
from bootlab.profile.recorded.trace import TracedCall, read_trace
from bootlab.profile.tables.account import Account, make_account
from bootlab.profile.tables.activity import Activity, find_activity
from bootlab.profile.tables.block_io import DiskCaller, find_disk_callers
from bootlab.profile.tables.coverage import Coverage, find_coverage
from bootlab.profile.tables.disk_files import DiskFile, find_disk_files
from bootlab.profile.tables.initcalls import InitcallTable, find_initcalls
from bootlab.profile.tables.processes import Processes, find_processes
from bootlab.profile.tables.syscalls import ProcessSyscalls, find_syscalls
from bootlab.profile.tree.call_tree import CallTree, build_call_tree
from bootlab.profile.tree.caused_work import CausedWork
from bootlab.profile.waits.critical_path import CriticalPath, find_critical_path
from bootlab.profile.waits.idle_blame import Waits, find_waits
from bootlab.profile.waits.sleeps import WaitTable
from bootlab.system import System
from bootlab.targets.target import TRACE
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.timeline import marks as m


@dataclass(frozen=True)
class Analysis:
    """What one profile says. Times are ns since power-on on the virtual clock.

    `tree`: up to ready, or as far as the boot came; `whole_tree`: with what came after, the check.
    """

    system: System
    record: BootRecord
    profile: Profile
    about: AboutProfile
    tree: CallTree
    whole_tree: CallTree
    account: Account
    initcalls: InitcallTable
    waits: Waits
    critical_path: CriticalPath
    processes: Processes
    activity: Activity
    disk_callers: tuple[DiskCaller, ...]
    """Who asked the disks for something, the longest wait first."""
    disk_files: tuple[DiskFile, ...]
    """What was asked of modelled disks by file; empty where no such disk holds an ext4 file system."""
    syscalls: tuple[ProcessSyscalls, ...]
    coverage: Coverage
    advice: Advice
    """What costs what, largest removable first."""
    directory: Path
    """Where the boot's files are: profile.bin, functions, trace.txt, console.log, record.json."""
    calls: tuple[TracedCall, ...] = ()
    """Of the functions that `ProfileRequest.calls` asked for, up to the boot's end."""
    price: KvmPrice | None = None
    """What it would make KVM do, and what that costs; None where that was not counted."""

    @property
    def end_ns(self) -> int:
        """Return when it was ready, or else when it ended."""
        return self.record.marks.get(m.READY, self.profile.end_ns)

    @property
    def past_ready_ns(self) -> int:
        """Return how far `tree` and its figures go past ready, ns; 0 where they end there.

        Ready by the console without a line end, at a prompt of a form that the plugin does not know, ends no slice.
        """
        ready_ns = self.record.marks.get(m.READY)
        if ready_ns is None or self.profile.slice_index(m.READY) is not None:
            return 0
        return max(0, self.profile.end_ns - ready_ns)

    @property
    def goal(self) -> str:
        """Return what `tree` and all figures go up to, in words."""
        return "ready" if m.READY in self.record.marks else "where it ended"


def analyse(
    system: System, record: BootRecord, directory: Path, *, run: str = "", models: Sequence[HostModel] = ()
) -> Analysis:
    """Return what the profile in a boot's directory says. `run`: the run's directory, for the advice.

    `models`: of hosts, under which the boot's exits are priced where the profile has them.

    Raises InputError for a profile that is damaged or that there is not, StoreError for what is kept beside it.
    """
    about, (profile, functions) = read_about(directory), read_recorded(record, directory)
    # What was saved may end before a mark that the trace still has.
    marks = {name: t_ns for name, t_ns in record.marks.items() if t_ns <= profile.end_ns}
    slices, table = profile.up_to(m.READY), WaitTable(profile)
    end_ns = record.marks.get(m.READY, profile.end_ns)
    path = find_critical_path(profile, marks, table=table)
    waits = find_waits(profile, path, table=table)
    tree = build_call_tree(profile, slices)
    initcalls = find_initcalls(profile, {address: name for address, _, name in functions}, about.initcall_levels)
    costs = _cost_tree(record, profile, waits, initcalls)
    # What other tasks did has a time and no price: it is left out where costs are prices.
    caused = CausedWork(table) if record.price is None else None
    measured, known = measured_of(record), load_catalogue(system.extensions)
    advice = advise(system, measured, costs, known, payload=about.payload, caused=caused)
    activity = find_activity(profile, marks, table=table, timings=_bounds(system))
    return Analysis(
        system=system,
        record=record,
        profile=profile,
        about=about,
        tree=tree,
        whole_tree=build_call_tree(profile),
        account=make_account(profile, tree),
        initcalls=initcalls,
        waits=waits,
        critical_path=path,
        processes=find_processes(profile, table=table),
        activity=activity,
        disk_callers=find_disk_callers(table.requests, end_ns),
        disk_files=_disk_files(directory, end_ns),
        syscalls=find_syscalls(profile),
        coverage=find_coverage(profile, [role for _, role, _ in functions]),
        advice=advice.model_copy(
            update={
                "run": run,
                "price": record.price,
                "ns_per_instruction": record.ns_per_instruction,
                "outcome": record.outcome.value,
                "detail": record.detail,
                "reached_ready": m.READY in marks,
                "complete": profile.complete,
            }
        ),
        price=price_profile(
            profile,
            system,
            slices,
            [(phase.name, phase.start_ns, phase.end_ns) for phase in activity.phases],
            models,
            record.hashes.get("host_model"),
        ),
        calls=_asked_calls(directory),
        directory=directory,
    )


def _bounds(system: System) -> dict[str, tuple[str, str]]:
    return {name: (one.after or m.POWER_ON, one.mark) for name, one in system.timings.items()}


def _disk_files(directory: Path, until_ns: int) -> tuple[DiskFile, ...]:
    pieces = read_disk_files(directory / DISK_FILES)
    if not pieces or not (directory / REQUESTS).exists():
        return ()
    return find_disk_files(read_disk_requests(directory / REQUESTS), pieces, until_ns)


def _cost_tree(record: BootRecord, profile: Profile, waits: Waits, initcalls: InitcallTable) -> CostTree:
    rate = None if record.price is None else record.price.ns_per_instruction
    return CostTree(profile, profile.up_to(m.READY), waits.idles, initcalls.initcalls, ns_per_instruction=rate)


def _asked_calls(directory: Path) -> tuple[TracedCall, ...]:
    return tuple(call for call in read_trace(directory / TRACE).calls if call.name != INITCALL)


def read_recorded(record: BootRecord, directory: Path) -> tuple[Profile, list[tuple[int, str, str]]]:
    """Return the profile in a boot's directory, and the lines of its functions file: address, role, name.

    Raises InputError for a profile that is damaged or that there is not.
    """
    functions = read_functions(directory / FUNCTIONS)
    return _ready_named(_read_profile(directory, function_names(functions)), record), functions


def _read_profile(directory: Path, names: list[str]) -> Profile:
    trace = read_trace(directory / TRACE)
    if trace.shift is None:
        raise InputError(f"{directory}: no profile: QEMU ended before its first instruction")
    return read_profile(directory / PROFILE, names, trace.shift)


def _ready_named(profile: Profile, record: BootRecord) -> Profile:
    # The slice that ends at ready is called after the mark that the user chose, or after a console line.
    ready_ns = record.marks.get(m.READY)
    slices = [replace(one, name=m.READY) if one.end_ns == ready_ns else one for one in profile.slices]
    return replace(profile, slices=slices)
