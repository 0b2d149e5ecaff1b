"""Makes profiled boots for the verbs that need one, and shows them."""

import json as json_module
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootlab.cli.options.arguments import naming, open_shop
from bootlab.cli.terminal.doubts import warn_of_doubts
from bootlab.cli.terminal.showing import write_page
from bootlab.cli.terminal.speech import err
from bootlab.errors import BootFailed, InputError, MissingTool, StoreError
from bootlab.experiments.recorded_profiles import AGAINST, LABEL, Profiled, place_of
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.findings.analysis import Analysis, analyse
from bootlab.measure import boot as one_boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import write_json
from bootlab.price.host_model import HostModel, expect_arch
from bootlab.profile.asked.request import ProfileRequest
from bootlab.report.parts.view import View
from bootlab.report.profile.view import profile_view
from bootlab.system import System
from bootlab.targets.target import Prepared

_PATIENCE = 4.0
"""A profiled boot takes longer than a plain one, with several vCPUs much longer."""
_OTHER_PLUGIN = re.compile(r"bootlab-plugin: (\S*plugin\.conf:\d+: |unknown option )")
"""What a plugin says of a config or an option that it does not know: it is of another version."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A system to profile. `file`: where it was read, for messages. `deadline_s`: None for the usual patience.

    `symbols`: the files that the user gave on the command line. `models`: of hosts, to price the boot under.
    """

    system: System
    file: Path
    request: ProfileRequest
    deadline_s: float | None = None
    symbols: tuple[Path, ...] = ()
    models: tuple[HostModel, ...] = ()


def prepare_profile(subject: Subject, *, silent: bool) -> Prepared:
    """Return all that a profiled boot of the subject needs, before anything is on record.

    Raises InputError for a system that cannot be profiled, MissingTool for a QEMU that is absent or too old.
    """
    system = subject.system
    # Said before anything is fetched for it.
    for model in subject.models:
        expect_arch(model, system.machine.arch, system.name)
    if not silent:
        err.print(f"preparing {system.name}")
        warn_of_doubts(system)
    try:
        prepared = prepare(open_shop(silent=silent), system, profile=subject.request)
    except InputError as error:
        # What is wrong with a file of --symbols is nothing in the system's file.
        if error.message.startswith(tuple(f"{path}:" for path in subject.symbols)):
            raise
        with naming(subject.file):
            raise
    for missing in prepared.unseen:
        err.print(f"bootlab: warning: {missing}", soft_wrap=True)
    return prepared


def start_run(store: Store, kind: RunKind, subjects: Mapping[str, Subject], asked: dict[str, Any]) -> Run:
    """Start a run with a profiled boot for each label.

    The systems are kept with it as values: advice needs them, and their files may change.
    """
    first = next(iter(subjects.values()))
    values = {label: json_module.loads(one.system.model_dump_json()) for label, one in subjects.items()}
    return store.start(kind, first.system.name, {"system": str(first.file), **asked, "systems": values})


def profile_boot(subject: Subject, prepared: Prepared, run: Run, label: str, *, silent: bool) -> Analysis:
    """Boot a system with the profile on, into a run, and return what the profile says, whatever became of the boot.

    Raises MissingTool when QEMU takes no plugins, BootFailed when it did not start.
    """
    system = subject.system
    if not silent:
        err.print(f"booting {_words(system)} with the profile on")
    patience = _PATIENCE if subject.deadline_s is None else subject.deadline_s / system.booted.deadline_s
    record = one_boot.boot(prepared, run.boot_directory(label), patience=patience)
    expect_started(record)
    if not silent:
        err.print("reading the profile")
    analysis = analyse(system, record, Path(record.run), run=str(run.path), models=subject.models)
    if subject.models and analysis.price is None:
        why = "; ".join(record.remarks) or "the boot ended before the first exit"
        err.print(f"bootlab: warning: {system.name}: no price: {why}", soft_wrap=True)
    return analysis


def profile_both(
    store: Store,
    before: Subject,
    after: Subject,
    *,
    silent: bool,
    ready: Callable[[Subject], None] = lambda subject: None,
) -> Profiled:
    """Return the profiles of two systems, in a run of their own that shows the second against the first.

    `ready` is called before a side is prepared. Raises as preparing and profiling each does.
    """
    sides, prepared = {LABEL: after, AGAINST: before}, {}
    for label, subject in sides.items():
        ready(subject)
        prepared[label] = prepare_profile(subject, silent=silent)
    run = start_run(store, RunKind.PROFILE, sides, {})
    with run.locked():
        one, other = (profile_boot(sides[label], prepared[label], run, label, silent=silent) for label in sides)
        return Profiled(one, other)


def save_profile(run: Run, found: Profiled) -> Path | None:
    """Write a profile's document and page into its run; return where the page is, None where it could not be written.

    Raises StoreError for a document that could not be written.
    """
    view = keep_document(run, found, {})
    return write_page(run, view.page) if view.page is not None else None


def keep_document(run: Run, found: Profiled, files: Mapping[str, str]) -> View:
    """Write a profile's document into its run, that of one boot of several beside its record, and return its view.

    `files`: label -> file that was exported. Raises StoreError for a document that could not be written.
    """
    view = profile_view(run, found, files)
    result = run.path / place_of(found.analysis) / run.result.name
    try:
        write_json(result, view.document)
    except StoreError:
        # A run on record may lie where nothing can be written, and has its document.
        if not result.is_file():
            raise
    return view


def expect_started(record: BootRecord) -> None:
    """Raise MissingTool or BootFailed, with the next thing to try, for a boot whose QEMU did not start."""
    if record.outcome is not Outcome.NOT_STARTED:
        return
    if _OTHER_PLUGIN.search(record.detail):
        raise MissingTool(f"the plugin and this bootlab differ: {record.detail}", hint="make setup builds it anew")
    if "plugin" in record.detail and "bootlab-plugin:" not in record.detail:
        raise MissingTool(
            f"QEMU does not take bootlab's plugin, and without it there is no profile: {record.detail}",
            hint="QEMU must be built with plugins, as Debian's is; bootlab doctor shows which one is used",
        )
    raise BootFailed(f"QEMU did not start: {record.detail}", hint=f"its messages are in {record.run}/qemu.stderr")


def _words(system: System) -> str:
    machine = system.machine
    vcpus = "1 vCPU" if machine.vcpus == 1 else f"{machine.vcpus} vCPUs"
    return f"{system.name} ({vcpus}, {machine.memory_mib} MiB, seed {system.seed})"
