"""Systems that boots on record answer for: a test says what each boot does, and no machine runs.

    system = replayed(tmp_path, answer("fast", later_ns=-5_000_000), answer({"seed": "^2$"}, end="hung"))
    result = trial(tmp_path, system, [word("fast"), word("slow")]).run()

A trial is `trial`'s, an engine or families without one are `engine`'s and `families`'; `prepared` is ready to boot.
An answer holds for every boot whose system has all of its patterns (targets/replay/script.py). The seeds and null words
of `NOISE` move a boot a little, as they do on a real machine. `rewrite` changes what is answered between two runs.
"""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bootlab.build.cache import Cache
from bootlab.build.workshop import Tell, Workshop
from bootlab.experiments.engine import Engine, Progress, Watcher
from bootlab.experiments.family_boots import FamilyBoots, wall_clock
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.trial.plan import Plan
from bootlab.experiments.trial.procedure import Trial
from bootlab.experiments.trial.task import TrialTask
from bootlab.measure.place import BootPlace, Here
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.system import KernelBuild, System, read_system
from bootlab.targets.replay.script import SCRIPT
from bootlab.targets.target import TRACE, Prepared
from bootlab.techniques.model.evidence import Effect, Proof
from bootlab.techniques.model.technique import Applies, Change, Layer, Risk, Technique, Text, everywhere
from tests.targets.replay.record_boots import DATA, SMALL

READY_NS = json.loads((DATA / "virtual/ready-s1/record.json").read_text())["marks"]["ready"]
"""When the recorded boot on the virtual clock was ready."""
_SHOP = Workshop(Cache(Path(os.devnull)))
BY_GAIN = Plan("gain", "each alone, then in the order of their gain", None, by_gain=True)


@dataclass(frozen=True)
class Answer:
    """What holds of the boots whose system has all of `when`; `said` are the keys of an answer in a script."""

    when: Mapping[str, str]
    said: Mapping[str, Any] = field(default_factory=dict)


def answer(when: Mapping[str, str] | str, **said: Any) -> Answer:
    """Return an answer; `when` as a text is a word of the kernel's command line."""
    return Answer({"kernel.cmdline": rf"\b{when}(\s|$)"} if isinstance(when, str) else when, said)


def answer_to_all(*words: str, **said: Any) -> Answer:
    """Return an answer to boots whose command line has every one of `words`, in any order."""
    return Answer({"kernel.cmdline": "".join(rf"(?=.*\b{word}(\s|$))" for word in words)}, said)


NOISE = (
    answer({"seed": "^2$"}, later_ns=30_000),
    answer({"seed": "^3$"}, later_ns=-20_000),
    *(answer(f"bootlab.null={number}", later_ns=by_ns) for number, by_ns in enumerate((10, -15, 25, -5, 20), 1)),
)
"""What moves a boot for no reason: 50 us between the seeds, some ns between null words."""


def replayed(folder: Path, *answers: Answer, clock: str = "virtual") -> System:
    """Return the recorded system, answered for as `NOISE` and `answers` say. `clock`: `virtual` or `wall`.

    Its boots have few of their initcalls.
    """
    boots = folder / "recorded"
    boots.mkdir(parents=True, exist_ok=True)
    for recorded in (DATA / clock).iterdir():
        _thinned(recorded, boots / recorded.name)
    rewrite(folder, *answers)
    chosen = {"kind": "wall", "accelerator": "tcg"} if clock == "wall" else {}
    target = {"kind": "replay", "boots": boots}
    return System.model_validate({**dict(read_system(SMALL)), "clock": chosen, "target": target})


def _thinned(recorded: Path, boot: Path) -> None:
    # Of some six hundred initcalls a verdict looks at none, and to read and move them all takes most of a boot's time.
    shutil.copytree(recorded, boot)
    if (trace := boot / TRACE).exists():
        lines = trace.read_text().splitlines(keepends=True)
        calls = [line for line in lines if line.startswith("call ")]
        dropped = set(calls) - set(calls[::40])
        trace.write_text("".join(line for line in lines if line not in dropped))


def own_kernel(system: System) -> System:
    """Return a replayed system with a kernel to build, which nobody builds."""
    build = KernelBuild(package="linux-source-6.12", suite="bookworm")
    return system.with_part("kernel", package=None, suite=None, build=build)


def rewrite(folder: Path, *answers: Answer) -> None:
    """Answer from now on as `NOISE` and `answers` say."""
    lines = ['boot = "ready-s1"']
    for one in (*NOISE, *answers):
        lines += [
            "[[answer]]",
            f"when = {_toml(one.when)}",
            *(f"{key} = {_toml(value)}" for key, value in one.said.items()),
        ]
    (folder / "recorded" / SCRIPT).write_text("\n".join(lines) + "\n")


def word(
    name: str,
    *,
    risk: Risk = Risk.NONE,
    effect: Effect = Effect.PROVEN,
    applies: Applies = everywhere,
) -> Technique:
    """Return a technique that puts a word on the kernel's command line, and whose boots show `effect`."""
    return Technique(
        name,
        Text(summary="adds a word", mechanism="as a script says", cost="none", risk=risk, published=()),
        Change(Layer.CMDLINE, knob=name, apply=lambda system, measured: system.with_cmdline(name), applies=applies),
        Proof(lambda after, before: effect),
    )


def without(option: str) -> Technique:
    """Return a technique that turns an option of the kernel off."""
    one = word(f"without-{option.lower()}")
    change = Change(Layer.KERNEL, option, apply=lambda system, measured: system.with_options(**{option: "n"}))
    return replace(one, change=change)


def with_word(name: str) -> Applies:
    """Return the condition of a technique that applies where the word `name` is on the command line already."""
    return lambda system, measured: None if name in system.kernel.cmdline.split() else f"needs {name}"


def prepared(system: System) -> Prepared:
    """Return a replayed system ready to boot; its cache is no folder, which shows that nothing is fetched or built."""
    return prepare(_SHOP, system)


def new_run(folder: Path) -> Run:
    """Return a new run below `folder`."""
    return Store(folder / "runs").start(RunKind.TRY, "small", {})


def engine(
    run: Run,
    *,
    reuse: bool = True,
    parallel: int = 1,
    place: BootPlace | None = None,
    watcher: Watcher = lambda progress: None,
) -> Engine:
    """Return an engine that boots into `run`; another one for the same run goes on with it."""
    return Engine(run, place=place or Here(parallel), reuse=reuse, watcher=watcher)


def families(booting: Engine, system: System, *, seeds: Sequence[int] = (1, 2, 3)) -> FamilyBoots:
    """Return what boots whole families of `system` and of others on its clock."""
    return FamilyBoots(booting, _SHOP, seeds, wall=wall_clock(system))


class Booted:
    """Watches an engine: the labels of what it booted, in order, and of what it took from the run's record."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.reused: list[str] = []
        self.records: list[BootRecord] = []
        self.systems: dict[str, System] = {}
        """Label -> what was booted under it, or taken from the run's record."""

    def __call__(self, progress: Progress) -> None:
        (self.reused if progress.reused else self.labels).append(progress.job.label)
        self.records.append(progress.record)
        self.systems[progress.job.label] = progress.job.prepared.system

    def of(self, label: str) -> list[str]:
        """Return what follows `label` in the labels that begin with it, of what was booted."""
        return [one.removeprefix(label) for one in self.labels if one.startswith(label)]


def trial(
    folder: Path,
    system: System,
    techniques: Sequence[Technique],
    *,
    run: Run | None = None,
    watcher: Watcher = lambda progress: None,
    tell: Tell = _SHOP.tell,
    place: BootPlace | None = None,
    **options: Any,
) -> Trial:
    """Return a trial of `techniques` with seeds 1 to 3, into a new run or, resumed, into `run`."""
    task = TrialTask(techniques, **{"plan": BY_GAIN, "seeds": [1, 2, 3], **options})
    return Trial(replace(_SHOP, tell=tell), system, task, engine(run or new_run(folder), place=place, watcher=watcher))


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value)
