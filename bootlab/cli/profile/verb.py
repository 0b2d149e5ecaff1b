"""`bootlab profile SYSTEM|RUN`: where the time of one boot went, from its first instruction on."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bootlab.cli.options.arguments import (
    ExportFormat,
    Json,
    Runs,
    complete_system,
    names_system,
    naming,
    open_store,
    open_system,
)
from bootlab.cli.options.ranges import LEAST_MIB, MOST_MIB, parse_numbers, parse_sizes
from bootlab.cli.options.settings import Settings, expect_none_set, set_in
from bootlab.cli.profile.boots import Subject, keep_document, prepare_profile, profile_boot, start_run
from bootlab.cli.profile.real_machine import profile_real, refuse_counting
from bootlab.cli.profile.sweeps import run_sweep
from bootlab.cli.profile.vmm import profile_vmm_of
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError, StoreError
from bootlab.experiments.real_profile import RealProfile
from bootlab.experiments.recorded_profiles import (
    AGAINST,
    LABEL,
    Profiled,
    place_of,
    read_profile_run,
    require_profile,
)
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.sweep.profiles import Axis
from bootlab.extensions.host_models import find_host_models
from bootlab.findings.analysis import Analysis
from bootlab.importers.importer import Options
from bootlab.price.host_model import ALL_NAMED, HostModel, read_host_model
from bootlab.profile.asked.profiling import DEFAULT_SPAN_NS
from bootlab.profile.asked.request import MOST_VCPUS, ProfileRequest
from bootlab.report.exports.export import expect_writable, export_difference, export_profile
from bootlab.symbols.system_map import SymbolFile, classify_symbol_file
from bootlab.system import ClockKind, System
from bootlab.targets.registry import target_of

_MOST_SPAN_NS = (1 << 63) - 1
_MANY_SPANS_NS = 1000
"""Below this a boot has tens of millions of calls to record."""


SystemOrRun = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM|RUN",
        help="A system file (TOML), which is booted; or a profile on record: its run's path, number, or last; "
        "of a run of several boots RUN/boots/NAME.",
        autocompletion=complete_system,
    ),
]


Vcpus = Annotated[
    str | None,
    typer.Option(
        "--vcpus",
        metavar="N[,N...]",
        help="vCPUs instead of the system's. With several (1,2,4 or 1..4): what each more costs, by function.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE[,SIZE...]",
        help="Memory (128M, 1G) instead of the system's. With several: what each GiB more costs, by function.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", min=1, help="Seed of the guest's random numbers. [default: the system's, else 1]"
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="SYSTEM|RUN",
        help="Compare with this one, which is the side before: what got longer, what shorter.",
        autocompletion=complete_system,
    ),
]
SymbolFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--symbols",
        metavar="FILE",
        help="The kernel's vmlinux or System.map, or a program with symbols, or its debug file. Repeatable.",
    ),
]
SpanNs = Annotated[
    int | None,
    typer.Option(
        "--span",
        min=0,
        max=_MOST_SPAN_NS,
        metavar="NS",
        help=f"Shortest call in ns that is recorded with its own times. [default: {DEFAULT_SPAN_NS}]",
    ),
]
Price = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        metavar="MODEL",
        help="Count what would leave a guest of KVM, and price it by this host model: "
        f"{', '.join(ALL_NAMED)} (arm64), or a file (.toml). Repeatable.",
        autocompletion=lambda incomplete: [name for name in ALL_NAMED if name.startswith(incomplete)],
    ),
]
Exports = Annotated[
    list[ExportFormat] | None, typer.Option("--export", help="Write the profile in this form, too. Repeatable.")
]
ExportTo = Annotated[
    Path | None, typer.Option("--to", metavar="DIR", help="Write exports here. [default: the run's directory]")
]
Deadline = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        min=1,
        metavar="S",
        help="Host seconds until a boot that is not ready is a hang. [default: 4 times the system's]",
    ),
]


_COUNTING = (
    "--vcpus", "--memory", "--seed", "--against", "--symbols", "--span", "--price", "--export", "--deadline",
)  # fmt: skip
"""Options of a profile that counts instructions."""

Pairs = Annotated[
    int | None,
    typer.Option(
        "--pairs",
        min=1,
        max=100,
        metavar="N",
        help="Of a real machine or a VMM: boots with what makes it tell, and as many without. [default: 1]",
    ),
]


def profile(
    system: SystemOrRun,
    vcpus: Vcpus = None,
    memory: Memory = None,
    seed: Seed = None,
    against: Against = None,
    settings: Settings = None,
    symbols: SymbolFiles = None,
    span: SpanNs = None,
    price: Price = None,
    export: Exports = None,
    to: ExportTo = None,
    deadline: Deadline = None,
    pairs: Pairs = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Boot a system once on the virtual clock and show where the time went, to ready and through its check.

    All times are ms of virtual time: instructions and idle time. The kernel is the stock one, and the guest cannot tell
    that it is profiled. With a RUN nothing is booted: the profile on record is shown and exported again. Exit code 0:
    ready and well; 1: anything else, and then what was saved is shown. Of a board on a serial line or a host
    ([target.shell] of its system file) it is what its own kernel and tools tell, with what the telling costs. Of a
    guest of KVM on the wall clock it is where its VMM's own time goes (docs/vmms.md).
    """
    store = open_store(runs)
    _expect_place(export, to)
    if not names_system(system):
        models = _read_models(price or [], ())
        expect_none_set(settings, system)
        _expect_no_pairs(pairs, "nothing is booted for a profile on record")
        _refuse_with_run(system, vcpus, memory, seed, symbols, deadline, span)
        with require_profile(store, system)[0].locked():
            return _show(*_read_recorded(store, system, against, models), export, to, json)
    file = Path(system)
    opened = open_system(file, silent=json, settings=settings)
    given = (vcpus, memory, seed, against, symbols, span, price, export, deadline)
    counting: dict[str, object] = dict(zip(_COUNTING, given, strict=True))
    if (code := _uncounted(opened, file, pairs or 1, counting, store, json=json)) is not None:
        return code
    _expect_no_pairs(pairs, "a profile that counts instructions costs the guest no time")
    request, kernel_symbols = _symbols(symbols or [], DEFAULT_SPAN_NS if span is None else span)
    value = _changed(opened, seed, kernel_symbols)
    models = _read_models(price or [], value.extensions) or charged_models(value, file)
    subject = Subject(value, file, replace(request, traps=bool(models)), deadline, tuple(symbols or ()), models)
    axis, points = _points(subject, vcpus, memory)
    if axis is not None:
        if against is not None or export is not None or price:
            raise InputError("--against, --export and --price go with one boot, not with a list of --vcpus or --memory")
        return run_sweep(store, points, axis, settings, json=json)
    beside, before = _side_before(store, subject, against, seed, silent=json)
    subjects = {LABEL: points[LABEL], **beside}
    prepared = {label: prepare_profile(one, silent=json) for label, one in subjects.items()}
    asked = {"against": against, "span_ns": request.span_ns, **priced_with(models), **set_in(settings)}
    run = start_run(store, RunKind.PROFILE, subjects, asked)
    with run.locked():
        analyses = {
            label: profile_boot(one, prepared[label], run, label, silent=json) for label, one in subjects.items()
        }
        return _show(run, Profiled(analyses[LABEL], analyses.get(AGAINST, before)), export, to, json)


def _expect_place(export: list[ExportFormat] | None, to: Path | None) -> None:
    if to is None:
        return
    if not export:
        raise InputError("--to: says where exports go, and there is none", hint="name a form with --export")
    # A boot takes longer than to find out that nothing can be written there.
    expect_writable(to)


def _uncounted(
    system: System, file: Path, pairs: int, counting: dict[str, object], store: Store, *, json: bool
) -> int | None:
    """Profile a machine whose instructions cannot be counted, and return the exit code; None where they can."""
    telling = target_of(system).telling(system)
    if telling is None and system.clock.kind is not ClockKind.WALL:
        return None
    refuse_counting(counting)
    if telling is None:
        return profile_vmm_of(system, pairs, store, file, json=json)
    asked = RealProfile(system, telling, pairs, Options(extensions=system.extensions))
    return profile_real(asked, store, file, json=json)


def _expect_no_pairs(pairs: int | None, why: str) -> None:
    if pairs is not None:
        raise InputError(f"--pairs: is of a real machine; {why}")


def _side_before(
    store: Store, subject: Subject, against: str | None, seed: int | None, *, silent: bool
) -> tuple[dict[str, Subject], Analysis | None]:
    """Return the side to compare with: a system that is booted as well, or a profile on record."""
    if against is not None and names_system(against):
        other = _changed(open_system(Path(against), silent=silent), seed, None)
        _expect_one_clock(subject.system, other)
        return {AGAINST: replace(subject, system=other, file=Path(against))}, None
    # Read before anything is booted: a wrong name shall not cost a boot, and `last` is not the run that begins now.
    before = _recorded(store, against)
    _expect_one_clock(subject.system, before.system if before is not None else None)
    return {}, before


def priced_with(models: tuple[HostModel, ...]) -> dict[str, Any]:
    """Return what a run keeps of the models that it was asked for; empty for none."""
    return {"price": [one.model_dump(mode="json", by_alias=True) for one in models]} if models else {}


def _read_models(names: list[str], folders: tuple[Path, ...]) -> tuple[HostModel, ...]:
    others = find_host_models(folders) if names else {}
    models = tuple(read_host_model(name, others) for name in dict.fromkeys(names))
    called = [one.name for one in models]
    if twice := next((name for name in called if called.count(name) > 1), None):
        raise InputError(f"--price: two models of the name {twice!r}", hint="give one of them another `name`")
    return models


def charged_models(system: System, file: Path) -> tuple[HostModel, ...]:
    """Return the model that a system's clock is charged by, for it is shown with what it was charged for."""
    if system.clock.host_model is None:
        return ()
    with naming(file):
        return (read_host_model(system.clock.host_model, find_host_models(system.extensions)),)


def _read_recorded(store: Store, name: str, against: str | None, models: tuple[HostModel, ...]) -> tuple[Run, Profiled]:
    run, label = require_profile(store, name)
    analysis, before = read_profile_run(run, label, models), _recorded(store, against)
    _expect_one_clock(analysis.system, before.system if before is not None else None)
    if models and analysis.price is None:
        raise InputError(
            f"--price: what would leave a guest of KVM was not counted in {run.path}",
            hint="bootlab profile SYSTEM --price MODEL counts it",
        )
    return run, Profiled(analysis, before)


def _show(
    run: Run,
    found: Profiled,
    export: list[ExportFormat] | None,
    to: Path | None,
    json: bool,
) -> int:
    written: dict[str, Path] = {}
    failed: StoreError | None = None
    analysis, before = found.analysis, found.before
    home = run.path / place_of(analysis)
    for form in dict.fromkeys(export or []):
        try:
            written |= export_profile(analysis, form.value, to or home)
            if before is not None and form is ExportFormat.FOLDED:
                written |= export_difference(before, analysis, to or home)
        except StoreError as error:
            # The boot's result goes first.
            failed = failed or error
    # The page finds by name what lies beside it.
    files = {label: path.name if path.parent == home else str(path.absolute()) for label, path in written.items()}
    code = show(run, keep_document(run, found, files), json=json)
    if failed is not None:
        raise failed
    return code


def _recorded(store: Store, against: str | None) -> Analysis | None:
    return None if against is None else read_profile_run(*require_profile(store, against))


def _expect_one_clock(system: System, other: System | None) -> None:
    if other is not None and other.clock.shift != system.clock.shift:
        raise InputError(
            f"--against: clock.shift of {other.name} is {other.clock.shift}, that of {system.name} is "
            f"{system.clock.shift}: their ns say nothing about each other",
            hint="give both the same clock.shift",
        )


def _refuse_with_run(name: str, *booting: object) -> None:
    if any(option is not None for option in booting):
        raise InputError(
            f"{name}: a run on record is not booted: "
            "give no --vcpus, --memory, --seed, --symbols, --deadline or --span",
            hint="name a system file to boot one",
        )


def _symbols(files: list[Path], span_ns: int) -> tuple[ProfileRequest, Path | None]:
    if span_ns < _MANY_SPANS_NS:
        err.print(
            f"bootlab: warning: --span {span_ns}: every call so short is recorded: minutes, and GB of memory and disk"
        )
    kinds = {path: classify_symbol_file(path) for path in files}
    kernels = [path for path, kind in kinds.items() if kind is not SymbolFile.PROGRAM]
    if len(kernels) > 1:
        raise InputError(f"--symbols: {kernels[0]} and {kernels[1]} are both of a kernel, and there is one")
    programs = tuple(path for path, kind in kinds.items() if kind is SymbolFile.PROGRAM)
    return ProfileRequest(span_ns, programs), next(iter(kernels), None)


def _changed(value: System, seed: int | None, kernel_symbols: Path | None) -> System:
    if seed is not None:
        value = value.with_seed(seed)
    return value if kernel_symbols is None else value.with_part("kernel", symbols=kernel_symbols)


def _points(subject: Subject, vcpus: str | None, memory: str | None) -> tuple[Axis | None, dict[str, Subject]]:
    counts = parse_numbers("--vcpus", vcpus, 1, MOST_VCPUS) if vcpus is not None else []
    sizes = parse_sizes("--memory", memory, LEAST_MIB, MOST_MIB) if memory is not None else []
    if len(counts) > 1 and len(sizes) > 1:
        raise InputError("--vcpus and --memory: a list of one of them at a time, or the slopes would mix")
    system = subject.system
    for key, values in (("vcpus", counts), ("memory_mib", sizes)):
        if len(values) == 1:
            system = system.with_part("machine", **{key: values[0]})
    many: tuple[tuple[Axis, str, list[int]], ...] = (("vcpus", "vcpus", counts), ("memory_gib", "memory_mib", sizes))
    for axis, key, values in many:
        if len(values) > 1:
            changed = {f"{key}-{value}": system.with_part("machine", **{key: value}) for value in values}
            return axis, {label: replace(subject, system=one) for label, one in changed.items()}
    return None, {LABEL: replace(subject, system=system)}
