"""Options that a configuration names and a source tree does not know: kconfig drops them without a word.

Most are internal ones of the kernel that the configuration was made for, or stood for what is gone. What matters is one
that has another name in this tree, and by that name not the value that was asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bootlab.build.source.config_text import Asked, same_value
from bootlab.build.source.renamed_options import find_new_name

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class UnknownOption:
    """An option that the tree does not know, as a configuration names it."""

    option: str
    value: str
    """`n` where the configuration says that it is not set."""
    by: str
    """`FILE:LINE`."""
    renamed: str | None = None
    """Its name in this tree; None where it has none."""
    linux: str | None = None
    """The release that renamed it."""
    commit: str | None = None
    wanted: str | None = None
    """What was asked for, as a value of the new name."""
    got: str | None = None
    """The value of the new name in what kconfig made of it; `n` is off."""

    @property
    def is_lost(self) -> bool:
        """Return whether the kernel has by the new name not what was asked for by the old one."""
        return self.renamed is not None and self.wanted != self.got


def find_unknown(
    named: Iterable[Asked], kinds: Mapping[str, str], got: Mapping[str, str], *, renames: bool
) -> tuple[UnknownOption, ...]:
    """Return what is `named` and not among `kinds` (option -> type), in its order, with its new name if it has one.

    `got`: the options of the configuration that came of it. `renames`: the tree is one of Linux.
    """
    return tuple(_unknown(one, kinds, got, renames) for one in named if one.option not in kinds)


def _unknown(one: Asked, kinds: Mapping[str, str], got: Mapping[str, str], renames: bool) -> UnknownOption:
    found = find_new_name(one.option, kinds) if renames else None
    if found is None:
        return UnknownOption(one.option, one.value, one.by)
    wanted, has = found.renamed_value(one.value), got.get(found.new, "n")
    # 0x10 and 16 are one value.
    has = wanted if same_value(wanted, has, kinds[found.new]) else has
    return UnknownOption(one.option, one.value, one.by, found.new, found.linux, found.commit, wanted, has)


def told(unknown: Sequence[UnknownOption], key: str, tree: str) -> tuple[str, ...]:
    """Return what is to be told of a configuration's unknown options, the lost ones one by one; empty for none.

    `key`: what in the system file names the configuration, as `kernel.build.config`. `tree`: as in `Linux 6.12.107`.
    """
    if not unknown:
        return ()
    lines = [f"{key}: {tree} does not know {_count(unknown)}: {_groups(unknown)}"]
    options = f"{key.rpartition('.')[0]}.options"
    for one in unknown:
        if one.is_lost:
            lines.append(
                f"{one.by}: {_said(one)} is lost: since Linux {one.linux} the option is {one.renamed}, and here that "
                f"is {one.got}; {options}: {one.renamed}={one.wanted} asks for it"
            )
    if others := [one for one in unknown if one.renamed is None and one.value != "n"]:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        lines.append(f"set and unknown: {', '.join(f'{_said(one)} ({one.by})' for one in others[:_SHOWN])}{more}")
    return tuple(lines)


def remarks(unknown: Sequence[UnknownOption], tree: str) -> tuple[str, ...]:
    """Return what a reader of a boot should know of it, in one line; empty where nothing was lost by a rename."""
    lost = [one for one in unknown if one.is_lost]
    if not lost:
        return ()
    listed = ", ".join(f"{_said(one)} ({one.renamed} since {one.linux}, here {one.got})" for one in lost[:_SHOWN])
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    return (f"the kernel's configuration asks {tree} for options by names that it does not know: {listed}{more}",)


def _groups(unknown: Sequence[UnknownOption]) -> str:
    renamed = [one for one in unknown if one.renamed is not None]
    others = [one for one in unknown if one.renamed is None]
    counts = (
        (sum(one.is_lost for one in renamed), "renamed and lost"),
        (sum(not one.is_lost for one in renamed), "renamed but as asked"),
        (sum(one.value != "n" for one in others), "set"),
        (sum(one.value == "n" for one in others), "not set anyway"),
    )
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _count(unknown: Sequence[UnknownOption]) -> str:
    return "1 option" if len(unknown) == 1 else f"{len(unknown)} options"


def _said(one: UnknownOption) -> str:
    return f"{one.option}={one.value}"
