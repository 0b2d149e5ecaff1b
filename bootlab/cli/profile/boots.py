"""Makes profiled boots for the verbs that need one, and shows them."""

import json as json_module
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootlab.cli.options.arguments import naming, open_cache
from bootlab.cli.profile.recorded import KIND, place_of
from bootlab.cli.terminal.pages import consoles, say_page, write_page
from bootlab.cli.terminal.speech import err, out, print_json, teller, warn_of_doubts
from bootlab.errors import BootFailed, InputError, MissingTool, StoreError
from bootlab.experiments.store import Run, Store
from bootlab.findings.analysis import Analysis, analyse
from bootlab.findings.profile_document import difference_document, profile_document
from bootlab.measure import boot as one_boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import write_json
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.recorded.about import PROFILE
from bootlab.profile.recorded.at_rest import find_kept
from bootlab.report.profile import sides_text as profile_sides_text
from bootlab.report.profile import text as profile_text
from bootlab.report.profile.page import differential_page, profile_page
from bootlab.system import System
from bootlab.targets.target import Prepared

_PATIENCE = 4.0
"""A profiled boot takes longer than a plain one, with several vCPUs much longer."""
_OTHER_PLUGIN = re.compile(r"bootlab-plugin: (\S*plugin\.conf:\d+: |unknown option )")
"""What a plugin says of a config or an option that it does not know: it is of another version."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A system to profile. `file`: where it was read, for messages. `deadline_s`: None for the usual patience.

    `symbols`: the files that the user gave on the command line.
    """

    system: System
    file: Path
    request: ProfileRequest
    deadline_s: float | None = None
    symbols: tuple[Path, ...] = ()


def prepare_profile(subject: Subject, *, silent: bool) -> Prepared:
    """Return all that a profiled boot of the subject needs, before anything is on record.

    Raises InputError for a system that cannot be profiled, MissingTool for a QEMU that is absent or too old.
    """
    system = subject.system
    if not silent:
        err.print(f"preparing {system.name}")
        warn_of_doubts(system)
    try:
        prepared = prepare(system, open_cache(), profile=subject.request, tell=teller(silent=silent))
    except InputError as error:
        # What is wrong with a file of --symbols is nothing in the system's file.
        if error.message.startswith(tuple(f"{path}:" for path in subject.symbols)):
            raise
        with naming(subject.file):
            raise
    for missing in prepared.unseen:
        err.print(f"bootlab: warning: {missing}", soft_wrap=True)
    return prepared


def start_run(store: Store, subjects: Mapping[str, Subject], asked: dict[str, Any]) -> Run:
    """Start a run of kind `profile` with a boot for each label.

    The systems are kept with it as values: advice needs them, and their files may change.
    """
    first = next(iter(subjects.values()))
    values = {label: json_module.loads(one.system.model_dump_json()) for label, one in subjects.items()}
    return store.start(KIND, first.system.name, {"system": str(first.file), **asked, "systems": values})


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
    return analyse(system, record, Path(record.run), run=str(run.path))


def show_profile(
    run: Run,
    analysis: Analysis,
    before: Analysis | None,
    files: Mapping[str, str],
    *,
    json: bool,
    to: Path | None = None,
) -> int:
    """Print a profile, write its document and pages into its run, and return the exit code.

    `before`: what it is compared with, whose page is difference.html. `files`: label -> exported file, for the page.
    `to`: where the profile's page goes instead of into the run.
    """
    document, path = save_profile(run, analysis, files, before, to=to)
    if json:
        print_json(document)
    else:
        out.print(profile_text.profile(analysis))
        for name in files.values():
            out.print(f"wrote {name}", soft_wrap=True)
        say_page(path)
    if before is not None:
        show_difference(run, before, analysis, json=json)
    return 0 if analysis.record.outcome is Outcome.READY else 1


def save_profile(
    run: Run, analysis: Analysis, files: Mapping[str, str], before: Analysis | None = None, *, to: Path | None = None
) -> tuple[dict[str, Any], Path | None]:
    """Write a profile's document and page into its run, the page to `to` if given; return the document and the path.

    Those of one boot of several go beside its record. The path is None where the page could not be written. Raises
    StoreError for a document that could not be.
    """
    document = profile_document(analysis)
    place = place_of(analysis)
    home = run.path / place
    kept_profile = find_kept(analysis.directory / PROFILE).relative_to(home)
    kept = {"everything, as JSON": run.result.name, "the plugin's own file": str(kept_profile)}
    if to is not None:
        # Beside the run's own page these are its neighbours.
        kept = {label: str((home / name).resolve()) for label, name in kept.items()}
    document["run"], document["files"] = str(run.path), dict(files)
    document["difference"] = difference_document(before, analysis) if before is not None else None
    result = home / run.result.name
    try:
        write_json(result, document)
    except StoreError:
        # A run on record may lie where nothing can be written, and has its document.
        if not result.is_file():
            raise
    shown = consoles([("console", str(analysis.directory))])
    html = profile_page(analysis, shown, {**kept, **files})
    return document, write_page(run, html, name=f"{place}report.html", to=to)


def show_difference(run: Run, before: Analysis, after: Analysis, *, json: bool) -> None:
    """Write the page of two profiles, and print what differs most."""
    path = write_page(run, differential_page(before, after), name=f"{place_of(after)}difference.html")
    if not json:
        out.print()
        out.print(profile_sides_text.difference(before, after))
        say_page(path, "difference")


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
