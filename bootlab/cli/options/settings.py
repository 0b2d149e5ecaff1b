"""`--set KEY=VALUE` of the verbs that boot one system, or both sides of a comparison: a key of it, for this run."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bootlab.errors import InputError
from bootlab.system.setting import OPTION

Settings = Annotated[
    list[str] | None,
    typer.Option(
        OPTION,
        metavar="KEY=VALUE",
        help="Set a key of the system file for this run, as in rootfs.model=ssd. An empty value leaves the key out; "
        "KEY+=VALUE adds to the file's text or list; paths are relative to the current directory. May be repeated.",
    ),
]


def set_in(settings: Sequence[str] | None) -> dict[str, object]:
    """Return what a run keeps of the keys that were set for it, as typed; empty for none."""
    return {"settings": list(settings)} if settings else {}


def expect_none_set(settings: Sequence[str] | None, run: str) -> None:
    """Raise InputError where keys are set of a run on record."""
    if settings:
        raise InputError(
            f"{OPTION} {settings[0]}: {run} is a run: its boots are as they were", hint="name the system that it booted"
        )
