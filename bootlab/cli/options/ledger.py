"""Which ledger, and which of its systems: arguments of every verb that reads one."""

import os
from pathlib import Path
from typing import Annotated

import typer

from bootlab.errors import InputError, StoreError
from bootlab.ledger.file import list_systems


def _complete_system(incomplete: str) -> list[str]:
    try:
        return [name for name in list_systems(ledger_folder(None)) if name.startswith(incomplete)]
    except (InputError, StoreError):
        return []


Ledger = Annotated[
    Path | None,
    typer.Option("--ledger", metavar="DIR", help="Where it is kept. [default: $BOOTLAB_LEDGER, else ./boot-ledger]"),
]
LedgerSystem = Annotated[
    str,
    typer.Argument(metavar="SYSTEM", help="A system's name, as the ledger has it.", autocompletion=_complete_system),
]


def ledger_folder(ledger: Path | None) -> Path:
    """Return the folder of the ledger: the one asked for, else $BOOTLAB_LEDGER, else boot-ledger here."""
    return ledger or Path(os.environ.get("BOOTLAB_LEDGER") or "boot-ledger")
