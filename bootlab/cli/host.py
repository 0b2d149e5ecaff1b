"""`bootlab host`: what this host is; `fit` times what KVM takes on it, and writes that as a host model."""

import re
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.options.arguments import Json, open_cache
from bootlab.cli.terminal.showing import answer
from bootlab.cli.terminal.speech import teller
from bootlab.errors import InputError, StoreError
from bootlab.measure.host_fit.fit import fit_host
from bootlab.price.host_model import ALL_NAMED, MODEL_NAME
from bootlab.report.host_fit import fit_view

app = typer.Typer(
    name="host",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="This host: what KVM takes on it for each exit and page, timed and written as a host model (docs/price.md).",
)


@app.callback()
def _host() -> None:
    """This host (docs/price.md)."""


@app.command("fit")
def fit(
    to: Annotated[
        Path, typer.Option("--to", metavar="FILE", help="The host model to write; its name ends in .toml.")
    ] = Path("host-model.toml"),
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What the model is called.")] = "this-host",
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    json: Json = False,
) -> int:
    """Time what KVM takes on this host for each exit and page, and write it as a host model.

    Boots a tiny guest under KVM three times or four, some seconds in all: round trips of each class of exit, first
    touches of pages of 4 KiB and 2 MiB, instructions. `--price FILE` of other verbs takes the model. Exit code 3
    where KVM does not work; says what to doubt, a busy host among it.
    """
    if to.suffix != ".toml":
        raise InputError(f"--to {to}: the name of a host model's file ends in .toml")
    if name in ALL_NAMED:
        raise InputError(f"--name {name}: a model that comes with bootlab is called so", hint="give it another name")
    if not re.match(MODEL_NAME, name):
        raise InputError(
            f"--name {ascii(name)[1:-1]}: no name of a model", hint="up to 40 letters, digits and . _ -, a letter first"
        )
    if to.exists() and not force:
        raise InputError(f"--to {to}: is there already", hint="--force writes over it, or give another name")
    found = fit_host(open_cache(), name, teller(silent=json))
    try:
        to.write_text(found.model, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"--to {to}: {error.strerror or error}", hint="name a file that you may write") from error
    return answer(fit_view(found.model_copy(update={"file": str(to)})), json=json)
