"""`bootlab profile SYSTEM|RUN`: where the time of one boot went, from its first instruction on."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.arguments import Json, Runs, complete_system, open_store
from bootlab.cli.profile_sweeps import run_sweep
from bootlab.cli.profiled_boots import AGAINST, LABEL, Subject, profile_boot, read_profile_run, show_profile, start_run
from bootlab.cli.ranges import LEAST_MIB, MOST_MIB, MOST_VCPUS, parse_numbers, parse_sizes
from bootlab.errors import InputError
from bootlab.experiments.profile_sweep import Axis
from bootlab.experiments.profiling import Analysis
from bootlab.experiments.store import Run, Store
from bootlab.measure.profile_setup import ProfileRequest
from bootlab.profile.profile_config import DEFAULT_SPAN_NS
from bootlab.report.exports.export import export_profile
from bootlab.symbols.system_map import SymbolFile, classify_symbol_file
from bootlab.system import System, read_system


class ExportFormat(StrEnum):
    """What a profile can be written as, for other tools."""

    FOLDED = "folded"
    PERFETTO = "perfetto"
    SVG = "svg"
    CSV = "csv"
    JSON = "json"


SystemOrRun = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM|RUN",
        help="A system file (TOML), which is booted; or a profile on record: its run's path, number, or last.",
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
    typer.Option("--seed", min=1, help="Seed of the guest's random numbers. [default: the system's, else 1]"),
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
    int,
    typer.Option("--span", min=0, metavar="NS", help="Shortest call in ns that is recorded with its own times."),
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


def profile(
    system: SystemOrRun,
    vcpus: Vcpus = None,
    memory: Memory = None,
    seed: Seed = None,
    against: Against = None,
    symbols: SymbolFiles = None,
    span: SpanNs = DEFAULT_SPAN_NS,
    export: Exports = None,
    to: ExportTo = None,
    deadline: Deadline = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Boot a system once on the virtual clock and show where the time went, to ready and through its check.

    All times are ms of virtual time: instructions and idle time. The kernel is the stock one, and the guest cannot tell
    that it is profiled. With a RUN nothing is booted: the profile on record is shown and exported again. Exit code 0:
    ready and well; 1: anything else, and then what was saved is shown.
    """
    store = open_store(runs)
    if not system.endswith(".toml"):
        _refuse_with_run(system, vcpus, memory, seed, symbols, deadline)
        run = store.find(system)
        with run.locked():
            return _show(run, read_profile_run(run), _recorded(store, against), export, to, json)
    file = Path(system)
    request, kernel_symbols = _symbols(symbols or [], span)
    value = _changed(read_system(file), seed, kernel_symbols)
    subject = Subject(value, file, request, deadline)
    axis, points = _points(subject, vcpus, memory)
    if axis is not None:
        if against is not None or export is not None:
            raise InputError("--against and --export go with one boot, not with a list of --vcpus or --memory")
        return run_sweep(store, points, axis, json=json)
    subjects = {LABEL: points[LABEL]}
    before = None
    if against is not None and against.endswith(".toml"):
        other = _changed(read_system(Path(against)), seed, None)
        subjects[AGAINST] = replace(subject, system=other, file=Path(against))
    else:
        # Read before anything is booted: a wrong name shall not cost a boot, and `last` is not the run that begins now.
        before = _recorded(store, against)
    run = start_run(store, subjects, {"against": against, "span_ns": span})
    with run.locked():
        analyses = {label: profile_boot(one, run, label, silent=json) for label, one in subjects.items()}
        return _show(run, analyses[LABEL], analyses.get(AGAINST, before), export, to, json)


def _show(
    run: Run,
    analysis: Analysis,
    before: Analysis | None,
    export: list[ExportFormat] | None,
    to: Path | None,
    json: bool,
) -> int:
    written: dict[str, Path] = {}
    for form in dict.fromkeys(export or []):
        written |= export_profile(analysis, form.value, to or run.path)
    # The page finds by name what lies beside it.
    files = {label: path.name if path.parent == run.path else str(path.absolute()) for label, path in written.items()}
    return show_profile(run, analysis, before, files, json=json)


def _recorded(store: Store, against: str | None) -> Analysis | None:
    return None if against is None else read_profile_run(store.find(against))


def _refuse_with_run(name: str, *booting: object) -> None:
    if any(option is not None for option in booting):
        raise InputError(
            f"{name}: a run on record is not booted: give no --vcpus, --memory, --seed, --symbols or --deadline",
            hint="name a system file to boot one",
        )


def _symbols(files: list[Path], span_ns: int) -> tuple[ProfileRequest, Path | None]:
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
