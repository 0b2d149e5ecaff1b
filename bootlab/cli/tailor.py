"""`bootlab tailor SYSTEM`: the kernel fitted to the job, from the exact coverage of its boot and check."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.workshop import Workshop
from bootlab.cli.options.arguments import Json, Runs, SystemFile, naming, open_cache, open_store, open_system
from bootlab.cli.options.places import Cluster, choose_place
from bootlab.cli.options.price import PriceModel, absolute_model, with_price
from bootlab.cli.resuming import digest, kept, settle
from bootlab.cli.terminal.doubts import warn_of_doubts
from bootlab.cli.terminal.files import expect_path
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import err
from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.experiments.kept_systems import TAILORED, keep_systems
from bootlab.experiments.store import RunKind
from bootlab.experiments.tailor.protected import GROUPS, Policy
from bootlab.experiments.tailor.result import tailor_result
from bootlab.experiments.tailor.rounds import Tailoring, expect_tailorable
from bootlab.experiments.tailor.tailored import Tailored
from bootlab.experiments.tailor.values import Value
from bootlab.measure.record_files import store_error, write_json, write_whole
from bootlab.report.tailor.reasons import reasons
from bootlab.report.tailor.view import tailor_view

CONFIG = "tailored.config"
REASONS = "reasons.txt"
_BUILDS = 6
_TOLD_EVERY = 250


class _TailorRequest(Document):
    """What a tailoring was asked, as its run keeps it."""

    system: str
    digest: str
    keep: list[str]
    give_up: list[str]
    builds: int
    values: list[str] = []
    """As `OPTION=VALUE`."""
    price: str | None = None


def tailor(
    system: SystemFile,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="OPTION", help="An option that stays, as EXT4_FS. Repeatable.")
    ] = None,
    give_up: Annotated[
        list[str] | None,
        typer.Option(
            "--give-up",
            metavar="NAME",
            help=f"A protection that goes: an option, or {', '.join(GROUPS)}. Repeatable. [default: none]",
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            metavar="OPTION=VALUE",
            help="A number for an option, or the member of a choice, as LOG_BUF_SHIFT=12 or HZ_100=y: tried in the "
            "end, at a kernel of its own, and stays if it saves. Repeatable.",
        ),
    ] = None,
    builds: Annotated[
        int | None,
        typer.Option(
            "--builds",
            metavar="N",
            min=2,
            max=99,
            help=f"Kernels built at most, the first included. [default: {_BUILDS}]",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the configuration there, too.")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            help="Go on with an interrupted run: its path, number, or last. --builds may be another then, and --try.",
        ),
    ] = None,
    price: PriceModel = None,
    cluster: Cluster = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Fit a kernel to its job: drop the options that its boot and its check do not use, and prove it.

    The check decides what the job is: let it do all that the system is for. Security options never go for not having
    run, only by name. Every kernel is booted and checked; what a check fails without stays, with the reason. With
    --price a kernel is judged by its price under that host model.
    """
    chosen, value = choose_place(cluster, None), open_system(system, silent=json)
    with_price(value, price)
    with naming(system):
        expect_tailorable(value)
    if output is not None:
        expect_path("--output", output)
    if output is not None and (output.is_dir() or not output.absolute().parent.is_dir()):
        raise InputError(f"--output {output}: not a place for a file", hint="-o tailored.config")
    store = open_store(runs)
    now = _TailorRequest(
        system=str(system),
        digest=digest(value),
        keep=_names("--keep", keep),
        give_up=_names("--give-up", give_up),
        builds=builds or _BUILDS,
        values=[str(one) for one in _values(values)],
        price=absolute_model(price),
    )
    question = settle(store, resume, RunKind.TAILOR, value.name, now, [keep, give_up, price])
    asked = question.asked.model_copy(
        update={"builds": builds or question.asked.builds, "values": now.values or question.asked.values}
    )
    question.expect_unchanged(asked.digest, now.digest)
    value = with_price(value, asked.price)
    run = question.begin(store, asked)

    def tell(line: str) -> None:
        if not json:
            err.print(f"  {line}", soft_wrap=True)

    def progress(done: int, last: str) -> None:
        if done and done % _TOLD_EVERY == 0:
            tell(f"compiled {done} files")

    if not json:
        err.print(f"tailoring {value.name}, {asked.builds} kernels at most; its run is {run.path}", soft_wrap=True)
        warn_of_doubts(value)
    shop = Workshop(open_cache(), tell=tell, progress=progress)
    policy = Policy(value, asked.keep, asked.give_up)
    with kept(run, system), naming(system), chosen.open(tell) as place:
        tailoring = Tailoring(shop, value, run, policy, builds=asked.builds, place=place)
        # What cannot be is not asked again by the next call that goes on.
        tailored = tailoring.tailor(_values(asked.values), accepted=lambda: run.keep_asked(asked.model_dump()))
    written = _write(tailored, run.path / CONFIG, output)
    result = tailor_result(
        tailored,
        config=str(written),
        run=str(run.path),
        reasons=str(run.path / REASONS),
        keep=asked.keep,
        give_up=asked.give_up,
    )
    keep_systems(run.path, value, [(TAILORED, tailored.system)])
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    try:
        write_whole(run.path / REASONS, reasons(result))
    except OSError as error:
        raise store_error(run.path, error) from error
    return show(run, tailor_view(run, result), json=json)


def _write(tailored: Tailored, into_run: Path, output: Path | None) -> Path:
    try:
        for path in (into_run, *([output] if output is not None else [])):
            shutil.copyfile(tailored.kernel.config, path)
    except OSError as error:
        raise store_error(output or into_run, error) from error
    return output or into_run


def _values(given: list[str] | None) -> list[Value]:
    found = dict[str, Value]()
    for one in given or []:
        option, _, value = one.removeprefix("CONFIG_").partition("=")
        if not _is_name(option) or not value:
            raise InputError(f"--try {one}: not an option with its value", hint="as LOG_BUF_SHIFT=12")
        if option in found:
            raise InputError(f"--try {one}: {found[option]} is tried already", hint="one value for each option")
        found[option] = Value(option, value)
    return list(found.values())


def _names(option: str, names: list[str] | None) -> list[str]:
    found = [name.removeprefix("CONFIG_") for name in names or []]
    for name in found:
        if (option == "--keep" or name not in GROUPS) and not _is_name(name):
            known = f", or {', '.join(GROUPS)}" if option == "--give-up" else ""
            raise InputError(f"{option} {name}: not the name of an option", hint=f"as EXT4_FS{known}")
    return found


def _is_name(word: str) -> bool:
    return word.isascii() and word.replace("_", "").isalnum() and word == word.upper()
