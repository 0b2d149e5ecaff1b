"""`--power-on KIND[:FAULT[:FILE]]` of the verbs that boot one system: what it finds as it is switched on."""

from typing import Annotated

import typer
from pydantic import ValidationError

from bootlab.errors import InputError
from bootlab.system import SLEEPS, Fault, PowerOn, PowerOnKind, System
from bootlab.system.complaint import complaints

_KINDS = ", ".join(PowerOnKind)
_DEVICES = "devices"
PowerOnWords = Annotated[
    str | None,
    typer.Option(
        "--power-on",
        metavar="KIND[:FAULT[:FILE]]",
        help=f"What the machine finds as it is switched on: {_KINDS}; and what is wrong with that "
        f"(docs/persistence.md): {', '.join(Fault)}; {PowerOnKind.SUSPENDED.value}:{_DEVICES} or "
        f"{PowerOnKind.S2IDLE.value}:{_DEVICES} tells how long each device takes to wake. "
        "[default: power_on of the system file, else cold]",
        autocompletion=lambda incomplete: [kind.value for kind in PowerOnKind if kind.value.startswith(incomplete)],
    ),
]


def with_power_on(system: System, words: str | None) -> System:
    """Return the system as it is switched on in another way; as it is for None.

    Raises InputError for words that name none, and for a system that has nothing to find.
    """
    if words is None:
        return system
    if words.endswith(":"):
        raise InputError(
            f"--power-on {words}: nothing follows the last colon", hint="docs/persistence.md says what each kind needs"
        )
    kind, _, rest = words.partition(":")
    fault, _, path = rest.partition(":")
    given: dict[str, object] = {"kind": kind, **({"fault_file": path} if path else {})}
    if fault == _DEVICES and kind in SLEEPS:
        given["devices"] = True
    elif fault:
        given["fault"] = fault
    try:
        asked = PowerOn.model_validate(given)
        return System.model_validate({**dict(system), "power_on": None if kind == PowerOnKind.COLD else asked})
    except ValidationError as error:
        what = complaints(error)[0].removeprefix("(whole file): ")
        raise InputError(f"--power-on {words}: {what}", hint="docs/persistence.md says what each kind needs") from error
