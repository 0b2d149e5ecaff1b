"""`bootlab boot SYSTEM`: one boot, its console live, then its phases."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json, Parallel, Runs, SystemFile, naming, open_shop, open_store, open_system
from bootlab.cli.options.lives import LifeSeconds, Lives, LivesRequest, boot_lives, expect_lives
from bootlab.cli.options.outputs import rebuilt_comment
from bootlab.cli.options.places import choose_place
from bootlab.cli.options.power_on import PowerOnWords, with_power_on
from bootlab.cli.options.price import PriceModel, with_price
from bootlab.cli.options.settings import Settings, set_in
from bootlab.cli.snapshot.restoring import RestoreRequest, Speech, restore
from bootlab.cli.terminal.doubts import warn_of_doubts
from bootlab.cli.terminal.files import expect_file, inputs_of, write_text
from bootlab.cli.terminal.showing import print_lines
from bootlab.cli.terminal.speech import err, out, print_json
from bootlab.errors import InputError, StoreError
from bootlab.experiments.store import RunKind
from bootlab.measure import boot as one_boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import write_json
from bootlab.report.boots.view import boot_view
from bootlab.report.parts.console import on_screen
from bootlab.report.parts.figures import visible
from bootlab.snapshot.identity import MOST_CLONES
from bootlab.system.text import system_text


def boot(
    system: SystemFile,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", min=1, help="Seed of the guest's random numbers. [default: the system's, else 1]"
        ),
    ] = None,
    write_system: Annotated[
        Path | None,
        typer.Option(
            "--write-system",
            metavar="FILE",
            help="Write SYSTEM, an image or an output folder say, as a system file, and boot nothing.",
        ),
    ] = None,
    snapshot: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SNAPSHOT",
            help="Go on from a snapshot instead: a run of `bootlab snapshot` (number, folder, last) or its folder.",
        ),
    ] = None,
    clones: Annotated[
        int | None,
        typer.Option(
            "--clones",
            min=1,
            max=MOST_CLONES,
            metavar="N",
            help="With --from: clones 1 to N, and 1 again: it must repeat.",
        ),
    ] = None,
    clone: Annotated[
        int | None,
        typer.Option("--clone", min=1, max=MOST_CLONES, metavar="N", help="With --from: which one. [default: 1]"),
    ] = None,
    or_cold: Annotated[
        bool, typer.Option("--or-cold", help="With --from: where the snapshot is refused, say why and boot cold.")
    ] = False,
    unread: Annotated[
        bool,
        typer.Option("--unread", help="With --from: compare only the sizes of the snapshot's files, not their hashes."),
    ] = False,
    lives: Lives = None,
    life_s: LifeSeconds = None,
    parallel: Parallel = None,
    settings: Settings = None,
    price: PriceModel = None,
    power_on: PowerOnWords = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show the console.")] = False,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Boot a system once, show its console as it comes, then where the time went.

    Console lines are stamped with host seconds since power-on; the phases below them are on the system's own clock.
    With --from the machine is not powered on: it goes on from a snapshot, as a machine of its own (docs/snapshots.md).
    With --power-on it finds what a boot before has left, in good order or spoilt (docs/persistence.md).
    With --lives it is a disk image that boots again and again: a first boot does more (docs/images.md).
    Exit code 0: ready and well; 1: anything else.
    """
    # Lives are booted side by side as well.
    asked = RestoreRequest(snapshot, clones, clone, or_cold, unread, parallel if lives is None else None)
    # Before the folder is read, which may be one that does not say whose it is.
    asked.expect_no_tool(system)
    value = with_price(with_power_on(open_system(system, silent=json, settings=settings), power_on), price)
    if seed is not None:
        value = value.with_seed(seed)
    if write_system is not None:
        expect_file("--write-system", write_system, inputs_of(value, system), example="system.toml")
        write_text("--write-system", write_system, system_text(value) + rebuilt_comment(system))
        err.print(f"{write_system}: the system file of {system}; bootlab boot {write_system} boots it")
        return 0
    expect_lives(value, lives, life_s)
    asked.expect_options(seed)
    if lives is not None:
        if snapshot is not None:
            raise InputError(
                "--lives: a machine that goes on from a snapshot is not powered on", hint="leave out --from"
            )
        request = LivesRequest(system, lives, life_s, [value.seed])
        return boot_lives(value, request, choose_place(None, parallel), json=json, runs=runs)
    asked.expect_snapshot(value, runs)
    if not json:
        err.print(f"preparing {value.name}")
    warn_of_doubts(value)
    with naming(system):
        prepared = prepare(open_shop(silent=json), value)
        if snapshot is not None:
            live = None if json or quiet or clones is not None else _LiveConsole()
            return restore(prepared, system, asked, Speech(json, runs, live.show if live is not None else None))
    run = open_store(runs).start(
        RunKind.BOOT, value.name, {"system": str(system), "seed": value.seed, **set_in(settings)}
    )

    live = _LiveConsole()
    record = one_boot.boot(prepared, run.boot_directory("1"), on_line=None if json or quiet else live.show)
    write_json(run.result, record.model_dump(mode="json", by_alias=True))
    if live.failed is not None:
        raise live.failed
    if json:
        print_json(record)
    else:
        out.print()
        print_lines(boot_view(run, record))
    return 0 if record.outcome is Outcome.READY else 1


class _LiveConsole:
    """Shows console lines as they come. Where that fails the boot goes on and is recorded; `failed` says why."""

    def __init__(self) -> None:
        self.failed: StoreError | None = None

    def show(self, t_ns: int, line: str) -> None:
        if self.failed is not None:
            return
        # A guest can print anything; none of it may steer the terminal.
        stamp = f"[{t_ns / 1e9:8.3f}]"
        try:
            for part in on_screen(line.strip("\r")):
                text = visible(part)
                sys.stdout.write(f"\x1b[2m{stamp}\x1b[0m {text}\n" if out.is_terminal else f"{stamp} {text}\n")
                # The time is that of the line's first byte.
                stamp = " " * len(stamp)
            sys.stdout.flush()
        except StoreError as error:
            self.failed = error
