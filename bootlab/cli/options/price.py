"""`--price MODEL` of the verbs that boot: a host model is charged to the clock, and every boot has its price."""

from pathlib import Path
from typing import Annotated

import typer

from bootlab.errors import InputError
from bootlab.extensions.host_models import find_host_models
from bootlab.price.host_model import ALL_NAMED, expect_arch, read_host_model
from bootlab.system import ClockKind, System

PriceModel = Annotated[
    str | None,
    typer.Option(
        "--price",
        metavar="MODEL",
        help="Charge the virtual clock what this host model takes for each exit of KVM and each page, and show the "
        f"price beside instructions + idle: {', '.join(ALL_NAMED)} (arm64), or a file (.toml). "
        "[default: clock.host_model]",
        autocompletion=lambda incomplete: [name for name in ALL_NAMED if name.startswith(incomplete)],
    ),
]


def with_price(system: System, model: str | None) -> System:
    """Return the system with its clock charged by `model`, a name or a file; as it is for None.

    Raises InputError for no such model, for one of another architecture, and for a system whose exits are not known.
    """
    if model is None:
        return system
    found = read_host_model(model, find_host_models(system.extensions))
    if system.clock.kind is not ClockKind.VIRTUAL:
        raise InputError(
            f'--price {model}: {system.name} is on the {system.clock.kind.value} clock, clock.kind = "virtual" has one',
            hint="on a host with KVM the wall clock measures what a boot takes there",
        )
    expect_arch(found, system.machine.arch, system.name)
    return system.with_part("clock", host_model=absolute_model(model))


def absolute_model(model: str | None) -> str | None:
    """Return the model by its name, or by its file's whole path: a run may go on from another folder."""
    return str(Path(model).absolute()) if model is not None and model.endswith(".toml") else model
