"""The verbs, put together. Each is a function in the file of its name."""

from collections.abc import Sequence
from typing import Annotated

import typer
from typer.exceptions import TyperException

from bootlab import __version__
from bootlab.cli import (
    advise,
    audit,
    boot,
    coldplug,
    compare,
    doctor,
    import_,
    init,
    measure,
    report,
    study,
    sweep,
    tailor,
    techniques,
    try_,
    unused,
)
from bootlab.cli.build import kernel as build
from bootlab.cli.profile import verb as profile
from bootlab.cli.watch import verb as watch
from bootlab.errors import InputError

_INTERRUPTED = 130

app = typer.Typer(
    name="bootlab",
    no_args_is_help=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Boot a Linux system where it really boots, measure it from power-on, and find out what makes it faster.",
    epilog="bootlab --install-completion adds completion to your shell. "
    "Environment: BOOTLAB_CACHE (downloads and builds), BOOTLAB_RUNS (recorded runs).",
)
app.command("boot")(boot.boot)
app.add_typer(build.app, name="build")
app.command("measure")(measure.measure)
app.command("try")(try_.try_)
app.command("compare")(compare.compare)
app.command("sweep")(sweep.sweep)
app.add_typer(study.study, name="study")
app.command("profile")(profile.profile)
app.command("import")(import_.import_)
app.command("advise")(advise.advise)
app.command("audit")(audit.audit)
app.command("tailor")(tailor.tailor)
app.command("unused")(unused.unused)
app.command("coldplug")(coldplug.coldplug)
app.command("watch")(watch.watch)
app.command("techniques")(techniques.techniques)
app.add_typer(init.app, name="init")
app.command("report")(report.report)
app.command("doctor")(doctor.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bootlab {__version__}")
        raise typer.Exit


@app.callback()
def _bootlab(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback with an error.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(argv: Sequence[str]) -> int:
    """Parse `argv`, run its verb and return the exit code."""
    command = typer.main.get_command(app)
    try:
        code = command.main(list(argv), prog_name="bootlab", standalone_mode=False)
    except typer.Abort as abort:
        raise KeyboardInterrupt from abort
    except TyperException as error:
        raise InputError(
            error.format_message(), hint="bootlab --help, or bootlab VERB --help, lists what there is"
        ) from error
    if code == _INTERRUPTED:
        # typer makes this of a KeyboardInterrupt that reaches it; no verb returns it.
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0
