"""The verbs, put together. Each is a function in the file of its name, read when somebody calls it.

To import all of them takes a second, of which a verb that boots nothing needs a fraction; and a shell that completes a
word waits for it.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from bootlab import __version__
from bootlab.cli.terminal.broken_extensions import telling_broken
from bootlab.errors import InputError

_INTERRUPTED = 130
_WRONG_USE = InputError.exit_code

VERBS: Final = {
    "boot": "boot:boot",
    "snapshot": "snapshot.verb:snapshot",
    "build": "build.kernel:app",
    "measure": "measure:measure",
    "storm": "storm.verb:storm",
    "try": "try_:try_",
    "apply": "apply:apply",
    "compare": "compare:compare",
    "sweep": "sweep:sweep",
    "study": "study:study",
    "profile": "profile.verb:profile",
    "import": "import_:import_",
    "advise": "advise:advise",
    "audit": "audit:audit",
    "packages": "packages.verb:packages",
    "tailor": "tailor:tailor",
    "unused": "unused:unused",
    "coldplug": "coldplug:coldplug",
    "watch": "watch.verb:watch",
    "probe": "outside.probe:probe",
    "ec2": "outside.ec2:app",
    "host": "host:app",
    "techniques": "techniques:techniques",
    "init": "init:app",
    "report": "report:report",
    "runs": "runs.verb:app",
    "cache": "cache.verb:app",
    "ledger": "ledger:app",
    "gate": "gate.verb:gate",
    "bisect": "bisect.verb:bisect",
    "examples": "examples:examples",
    "doctor": "doctor:doctor",
}
"""Verb -> its module in cli and its function there, or the group of its own verbs; in the order of --help."""


class _WholeLines(TyperGroup):
    """A group that lists each of its verbs with a whole sentence: cut at the line's end it says nothing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args or not self.no_args_is_help or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        # typer would raise an error whose words are the help.
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(_WRONG_USE)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            assert command is not None
            rows.append((name, " ".join((command.help or "").partition("\n\n")[0].split())))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class _Verbs(_WholeLines):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return read_verb(cmd_name) if cmd_name in VERBS else super().get_command(ctx, cmd_name)


def read_verb(name: str) -> TyperCommand | TyperGroup:
    """Return a verb of `VERBS`, ready to be called."""
    module, attribute = VERBS[name].split(":")
    found = getattr(import_module(f"bootlab.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        group = typer.Typer(**_SETTINGS)
        group.add_typer(found, name=name, cls=_WholeLines)
        # typer reads a group's own settings where it is added to another.
        made = typer.main.get_group(group).commands[name]
    else:
        alone = typer.Typer(**_SETTINGS)
        alone.command(name)(found)
        made = typer.main.get_command(alone)
    assert isinstance(made, TyperCommand | TyperGroup)
    return made


_SETTINGS: Final[dict[str, Any]] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "add_completion": False,
}

app = typer.Typer(
    cls=_Verbs,
    name="bootlab",
    no_args_is_help=False,
    invoke_without_command=True,
    **{**_SETTINGS, "add_completion": True},
    help="Boot a Linux system where it really boots, measure it from power-on, and find out what makes that shorter.",
    epilog="bootlab --install-completion adds completion to your shell. "
    "Environment: BOOTLAB_CACHE (downloads and builds), BOOTLAB_RUNS (recorded runs).",
)


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
    with telling_broken():
        return _run(command, argv)


def _run(command: Any, argv: Sequence[str]) -> int:
    try:
        code = command.main(list(argv), prog_name="bootlab", standalone_mode=False)
    except typer.Abort as abort:
        raise KeyboardInterrupt from abort
    except TyperException as error:
        context = getattr(error, "ctx", None)
        command_path = "bootlab" if context is None else context.command_path
        raise InputError(error.format_message(), hint=f"{command_path} --help lists what there is") from error
    if code == _INTERRUPTED:
        # typer makes this of a KeyboardInterrupt that reaches it; no verb returns it.
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0
