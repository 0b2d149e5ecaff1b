"""`--lives` and `--life-s` of boot and measure: a disk image's first boot and its later ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.options.arguments import naming, open_shop, open_store
from bootlab.cli.options.places import ChosenPlace
from bootlab.cli.terminal.doubts import warn_of_doubts
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import boot_progress, err
from bootlab.errors import InputError
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.lives.result import lives_result
from bootlab.experiments.series import are_identical
from bootlab.experiments.store import RunKind
from bootlab.measure.prepare import prepare
from bootlab.measure.record_files import write_json
from bootlab.report.lives.view import lives_view
from bootlab.system import ClockKind, System
from bootlab.system.disk_image import MOST_LIVES

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
    boots = {}
    with naming(asked.system):
        for life in range(1, asked.lives + 1):
            image = value.image.model_copy(update={"life": life, "life_s": life_s})
            boots[life] = prepare(open_shop(silent=json), value.model_copy(update={"image": image}))
    told = {"system": str(asked.system), "lives": asked.lives, "life_s": life_s, "seeds": list(asked.seeds)}
    run = open_store(runs).start(RunKind.LIVES, value.name, told)
    jobs = [
        Job(f"life{life:02d}-{index:03d}-s{seed}", prepared.with_seed(seed))
        for life, prepared in boots.items()
        for index, seed in enumerate(asked.seeds, 1)
    ]
    with run.locked(), boot_progress(len(jobs), silent=json) as progress, chosen.open(progress.note) as place:
        progress.note(f"{value.name}: {asked.lives} lives, {len(jobs)} boots")
        engine = Engine(run, place=place, watcher=lambda done: progress.count_boot(done.job.label))
        records = iter(engine.boot_all(jobs))
    result = lives_result({life: [next(records) for _ in asked.seeds] for life in boots}, life_s, str(run.path))
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    code = show(run, lives_view(run, result), json=json)
    virtual = value.clock.kind is ClockKind.VIRTUAL
    if virtual and len(set(asked.seeds)) == 1 and not all(are_identical(one.boots) for one in result.lives):
        err.print("bootlab: these boots have one seed and are not identical: please report it with the run's directory")
        return 1
    return code
