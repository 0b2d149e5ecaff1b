"""`--from-mark` of the verbs that boot many alike: where boots begin that need not be powered on."""

from typing import Annotated

import typer

from bootlab.cli.options.places import ChosenPlace
from bootlab.errors import InputError
from bootlab.experiments.from_mark import expect_mark

BeginsAtMark = Annotated[
    str | None,
    typer.Option(
        "--from-mark",
        metavar="MARK",
        help="Let boots begin at this mark of the guest, where the machine of another boot was kept that had begun "
        "alike to the last block: the same figures (docs/snapshots.md says when that spares host time).",
    ),
]


def expect_from_mark(mark: str | None, chosen: ChosenPlace) -> None:
    """Raise InputError for a name that no mark can have, and for boots elsewhere than here."""
    if mark is None:
        return
    expect_mark(mark)
    if chosen.cluster is not None:
        raise InputError("--from-mark: machines are kept on this host", hint="leave out --cluster, or --from-mark")
