"""`bootlab packages SYSTEM|RUN`: what each installed package adds to the boot, and what a boot without some saves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build import boot_files
from bootlab.build.debian.installed_packages import InstalledPackages, read_installed_packages
from bootlab.build.formats.cpio import Entry
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.build.workshop import Workshop
from bootlab.cli.options.arguments import (
    Json,
    Parallel,
    Runs,
    names_system,
    naming,
    open_cache,
    open_shop,
    open_store,
    open_system,
)
from bootlab.cli.options.places import ChosenPlace, Cluster, choose_place
from bootlab.cli.profile.boots import Subject, prepare_profile, profile_boot, start_run
from bootlab.cli.profile.evidence import Goal, expect_goal, gather_evidence
from bootlab.cli.profile.verb import SystemOrRun
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress, err
from bootlab.errors import InputError
from bootlab.experiments.engine import Engine
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.packages.proof import Removed, prove_removal
from bootlab.experiments.packages.result import PackagesProof, PackagesResult
from bootlab.experiments.packages.without import choose, expect_allowed, expect_removable, expect_there, leave_out
from bootlab.experiments.recorded_profiles import LABEL, read_profile_run, require_profile
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.verdict import FEWEST_NULLS, FEWEST_SEEDS
from bootlab.findings.analysis import Analysis
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.packages.file_owners import FileOwners
from bootlab.findings.packages.package_costs import CostedPackages, cost_packages
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import write_json
from bootlab.profile.asked.request import ProfileRequest
from bootlab.report.findings.packages_view import packages_view
from bootlab.system import System


@dataclass(frozen=True, slots=True)
class _Asked:
    """How many packages, or which, are to be left out, and the boots that say what that saves."""

    number: int | None
    names: list[str]
    seeds: int
    nulls: int

    @property
    def proof(self) -> bool:
        return self.number is not None or bool(self.names)


def packages(
    system: SystemOrRun,
    goal: Goal = None,
    prove: Annotated[
        int | None,
        typer.Option(
            "--prove", min=1, max=99, metavar="N", help="Boot again without the first N packages that can be removed."
        ),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="PACKAGE", help="Boot again without this package. Repeatable."),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option("--seeds", metavar="N", min=FEWEST_SEEDS, max=99, help="Seeds a side, with --prove or --remove."),
    ] = FEWEST_SEEDS,
    nulls: Annotated[
        int,
        typer.Option(
            "--nulls",
            metavar="N",
            min=FEWEST_NULLS,
            max=20,
            help="Boots with a word that means nothing, which show how far the system moves for no reason.",
        ),
    ] = FEWEST_NULLS,
    parallel: Parallel = None,
    cluster: Cluster = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Say what each package that is installed in a root adds to its boot: a ranked table, which is the whole boot.

    A process's instructions, and idle time that its waits are to blame for, belong to the package whose file it
    executes: a script's to the script's package. Of packages that can be removed it is also said what goes with them:
    their units and all that these start. --prove and --remove leave packages out, with those that need them, and boot
    both systems with seeds and null changes: what was predicted beside what was measured. Exit code 0: the boots were
    ready and well; 1: anything else.
    """
    if prove is not None and remove:
        raise InputError("--prove chooses the packages and --remove names them", hint="give one of the two")
    asked = _Asked(prove, list(remove or []), seeds, nulls)
    store, chosen = open_store(runs), choose_place(cluster, parallel)
    shop = open_shop(silent=json)
    if names_system(system):
        run, analysis = _profile(store, shop, Path(system), asked, silent=json)
    else:
        run, analysis = None, read_profile_run(*require_profile(store, system))
        if asked.proof:
            expect_removable(analysis.system)
    if not json:
        err.print("looking at what it booted from")
    evidence = _with_goal(gather_evidence(shop, analysis, goal), goal)
    installed = _installed(analysis.system, evidence.rootfs)
    found = cost_packages(evidence, FileOwners(installed, evidence.initramfs), archive_goes=_goes(analysis.system))
    run = run or store.start(RunKind.PACKAGES, analysis.system.name, {"profile": str(analysis.directory)})
    result = PackagesResult(costs=found.costs, profile=str(analysis.directory), run=str(run.path))
    # On record before boots that take long, and may be interrupted.
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    if asked.proof:
        proof = _proof(shop, run, chosen, _Question(asked, found, installed, analysis.system), silent=json)
        result = result.model_copy(update={"proof": proof})
        write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return show(run, packages_view(run, result), json=json)


@dataclass(frozen=True, slots=True)
class _Question:
    """What was asked of which system, and what is known of its packages."""

    asked: _Asked
    found: CostedPackages
    installed: InstalledPackages
    system: System


def _profile(store: Store, shop: Workshop, file: Path, asked: _Asked, *, silent: bool) -> tuple[Run, Analysis]:
    """Boot a system with the profile on, once its root is known to have packages that can be asked about."""
    subject = Subject(open_system(file, silent=silent), file, ProfileRequest(paths=True))
    system = subject.system
    if asked.proof:
        expect_removable(system)
    has_root = system.rootfs is not None or system.image is not None
    with naming(file):
        installed = _installed(system, boot_files.root_entries_of(shop, system, "rootfs") if has_root else None)
    expect_there(asked.names, installed)
    prepared = prepare_profile(subject, silent=silent)
    run = start_run(store, RunKind.PACKAGES, {LABEL: subject}, {"paths": True})
    with run.locked():
        return run, profile_boot(subject, prepared, run, LABEL, silent=silent)


def _with_goal(evidence: AuditedBoot, goal: str | None) -> AuditedBoot:
    expect_goal(evidence, goal)
    told = evidence.analysis.critical_path.task
    if evidence.goal is None and told is not None and (unit := evidence.units_of_tasks.get(told)) is not None:
        # Nothing ran bootlab-mark: the boot is for the unit that made it ready, by a login prompt or an open port.
        return replace(evidence, goal=unit)
    return evidence


def _installed(system: System, rootfs: Sequence[Entry] | None) -> InstalledPackages:
    if rootfs is None:
        raise InputError(
            f"{system.name}: it has no root file system whose files are known",
            hint="[rootfs] as a recipe or an image of ext4 or squashfs; or a disk image",
        )
    return read_installed_packages(FollowedPaths(rootfs), system.name)


def _goes(system: System) -> bool:
    # An initramfs that the packages' installation made is made anew without them.
    return system.initramfs is not None and system.initramfs.installed


def _proof(shop: Workshop, run: Run, chosen: ChosenPlace, question: _Question, *, silent: bool) -> PackagesProof:
    asked, found, system = question.asked, question.found, question.system
    if found.costs.outcome != Outcome.READY.value:
        raise InputError(
            f"{system.name}: {found.costs.outcome}: {found.costs.detail}: nothing can be left out of a boot that fails",
            hint=f"bootlab report {run.path} shows what it cost as far as it came",
        )
    names = asked.names or choose(found.costs, found.removals, asked.number or 0)
    if not names:
        raise InputError(f"{system.name}: no package of it can be removed", hint="bootlab packages says why, of each")
    expect_allowed(names, found.removals, question.installed)
    if not silent:
        few = f" (no more of the {asked.number} take anything along)" if len(names) < (asked.number or 0) else ""
        err.print(f"without {', '.join(names)}{few}", soft_wrap=True)
    removed = Removed(names, leave_out(shop, system, names, question.installed))
    with run.locked(), boot_progress(None, silent=silent) as progress, chosen.open(progress.note) as place:
        engine = Engine(run, place=place, reuse=True, watcher=lambda done: progress.count_boot(done.job.label))
        workshop = Workshop(open_cache(), tell=progress.note)
        boots = FamilyBoots(engine, workshop, range(1, asked.seeds + 1), wall=False)
        return prove_removal(boots, system, removed, found.removals, asked.nulls)
