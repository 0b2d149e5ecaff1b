"""A command of this host, as a system file says it."""

from typing import Annotated

from bootlab.system.part import LINE, TEXT

Command = Annotated[tuple[Annotated[str, LINE], ...], TEXT] | Annotated[str, LINE]
"""A list of words, run as it is, or one text, run by `sh -c`."""


def words_of(command: Command) -> list[str]:
    """Return the words of a command, as a process takes them."""
    return ["sh", "-c", command] if isinstance(command, str) else list(command)
