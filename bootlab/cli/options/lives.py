"""`--lives` and `--life-s` of boot and measure: a disk image's first boot and its later ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.options.arguments import naming, open_shop, open_store
from bootlab.cli.options.places import ChosenPlace
from bootlab.cli.profile.boots import Subject, prepare_profile, profile_boot
from bootlab.cli.terminal.doubts import tell_not_identical, warn_of_doubts
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress, err
from bootlab.errors import BootFailed, InputError, MissingTool
from bootlab.experiments.chance import Chance, tells_of_chance
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.lives.chance_processes import outermost_seeds, with_processes
from bootlab.experiments.lives.result import LivesResult, lives_result
from bootlab.experiments.series import are_identical
from bootlab.experiments.store import Run, RunKind
from bootlab.measure.prepare import prepare
from bootlab.measure.record_files import write_json
from bootlab.profile.asked.request import ProfileRequest
from bootlab.report.lives.view import lives_view
from bootlab.system import ClockKind, System
from bootlab.system.disk_image import MOST_LIVES
from bootlab.targets.target import Prepared

_ROLLS = 3
"""With so many seeds the first life is booted where it tells of a work whose time is chance."""

Lives = Annotated[
    int | None,
    typer.Option(
        "--lives",
        min=1,
        max=MOST_LIVES,
        metavar="N",
        help="Of a disk image, on a copy: boot, power off in order, boot again, N times. [default: the first boot]",
    ),
]
LifeSeconds = Annotated[
    int | None,
    typer.Option(
        "--life-s",
        min=1,
        max=86400,
        metavar="S",
        help="With --lives: when each but the last is powered off, s since its power-on. [default: image.life_s, 120]",
    ),
]


@dataclass(frozen=True, slots=True)
class LivesRequest:
    """Which lives of a system are to be booted, each with these seeds. `system`: the file that was named."""

    system: Path
    lives: int
    life_s: int | None
    seeds: Sequence[int]

    @property
    def numbered(self) -> list[tuple[int, int]]:
        """Return the seeds with their numbers, from 1 on."""
        return list(enumerate(self.seeds, 1))


def expect_lives(value: System, lives: int | None, life_s: int | None) -> None:
    """Raise InputError for options that do not go together, or a system that has no lives."""
    if lives is None:
        if life_s is not None:
            raise InputError("--life-s: is how long each life lasts: --lives N")
        return
    if value.image is None:
        raise InputError(
            f"--lives: {value.name} boots from no disk image, so nothing that it writes is there when it boots again",
            hint="bootlab build image makes one; docs/images.md",
        )
    if value.image.life != 1:
        raise InputError(f"--lives: image.life = {value.image.life} names one life, and --lives counts from the first")


def boot_lives(value: System, asked: LivesRequest, chosen: ChosenPlace, *, json: bool, runs: Path | None) -> int:
    """Boot every life with every seed, show what was found, and return the exit code.

    Raises BootFailed for a life that does not end in order, InputError.
    """
    assert value.image is not None
    life_s = asked.life_s or value.image.life_s
    warn_of_doubts(value)
    boots = dict[int, Prepared]()
    with naming(asked.system):
        for life in range(1, asked.lives + 1):
            image = value.image.model_copy(update={"life": life, "life_s": life_s})
            boots[life] = prepare(open_shop(silent=json), value.model_copy(update={"image": image}))
    told = {"system": str(asked.system), "lives": asked.lives, "life_s": life_s, "seeds": list(asked.seeds)}
    run = open_store(runs).start(RunKind.LIVES, value.name, told)
    rerolled: list[int] = []
    jobs = [_job(life, number, seed, prepared) for life, prepared in boots.items() for number, seed in asked.numbered]
    with run.locked(), boot_progress(len(jobs), silent=json) as progress, chosen.open(progress.note) as place:
        progress.note(f"{value.name}: {asked.lives} lives, {len(jobs)} boots")
        engine = Engine(run, place=place, watcher=lambda done: progress.count_boot(done.job.label))
        booted = iter(engine.boot_all(jobs))
        records = {life: [next(booted) for _ in asked.seeds] for life in boots}
        if len(asked.seeds) == 1 and tells_of_chance(records[1][0]):
            rerolled = [asked.seeds[0] + more for more in range(1, _ROLLS)]
            progress.note(
                f"life 1 makes host keys, which takes what chance says: again with {len(rerolled)} more seeds"
            )
            again = [_job(1, number, seed, boots[1]) for number, seed in enumerate(rerolled, 2)]
            records[1] += engine.boot_all(again)
    result = lives_result(records, life_s, str(run.path), rerolled)
    if result.chances:
        chances = [one for life in boots for one in _with_processes(value, asked, result, life, run, silent=json)]
        result = result.model_copy(update={"chances": chances})
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    code = show(run, lives_view(run, result), json=json)
    virtual = value.clock.kind is ClockKind.VIRTUAL
    if (
        virtual
        and len(set(asked.seeds)) == 1 < len(asked.seeds)
        and not all(are_identical(one.boots) for one in result.lives)
    ):
        tell_not_identical(value)
        return 1
    return code


def _job(life: int, number: int, seed: int, prepared: Prepared) -> Job:
    return Job(f"life{life:02d}-{number:03d}-s{seed}", prepared.with_seed(seed))


def _with_processes(
    value: System, asked: LivesRequest, result: LivesResult, life: int, run: Run, *, silent: bool
) -> list[Chance]:
    """Return the chances of one life, with the processes that they are made of where a profile can tell them."""
    chances = [chance for chance in result.chances if chance.life == life]
    if not chances:
        return []
    assert value.image is not None
    image = value.image.model_copy(update={"life": life, "life_s": result.life_s})
    subject = Subject(value.model_copy(update={"image": image}), asked.system, ProfileRequest(paths=True))
    ready = {record.seed: record.ready_ns for record in result.lives[life - 1].boots}
    profiles = {}
    try:
        prepared = prepare_profile(subject, silent=True)
        for seed in outermost_seeds(chances):
            if not silent:
                err.print(f"life {life}: what chance decided: seed {seed} again, with the profile on")
            label = f"life{life:02d}-profile-s{seed}"
            profiles[seed] = profile_boot(subject, prepared.with_seed(seed), run, label, silent=True)
    except (InputError, BootFailed, MissingTool) as error:
        err.print(f"bootlab: warning: life {life}: nobody is named for what chance decided: {error.message}")
        return chances
    if any(found.record.ready_ns != ready[seed] for seed, found in profiles.items()):
        err.print(f"bootlab: warning: life {life}: its profiled boots are not those that they repeat: nobody is named")
        return chances
    return [with_processes(chance, profiles) for chance in chances]
