"""Gives every option of a tailoring its reason, also those that went with others and those that nobody looked at."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bootlab.build.source.option_dependencies import KconfigTree
from bootlab.experiments.tailor.unused_options import Drop, Kept

_NAMED = 4


@dataclass(frozen=True, slots=True)
class Needed:
    """An option that the check has been seen to need."""

    option: str
    detail: str


@dataclass(frozen=True, slots=True)
class Followed:
    """An option that went with no one drop, and why."""

    option: str
    why: str


def every_kept(
    on: Collection[str],
    kept: Sequence[Kept],
    needed: Sequence[Needed],
    drops: Sequence[Drop],
    asked: Collection[str] = (),
) -> tuple[Kept, ...]:
    """Return why each option that is on stays; where builds ran out, some stay because nobody tried them.

    `asked`: those that the user wanted tried.
    """
    known = {one.option: one for one in kept}
    known |= {
        one.option: Kept(one.option, one.why, "asked" if one.option in asked else "turned on")
        for one in drops
        if one.value == "y"
    }
    known |= {one.option: Kept(one.option, f"without it: {one.detail}", "check") for one in needed}
    untried = {option: Kept(option, "could go: no build was left to try it", "untried") for option in on}
    return tuple({**untried, **known}[option] for option in sorted(on))


def every_followed(before: KconfigTree, on_after: Collection[str], drops: Sequence[Drop]) -> tuple[Followed, ...]:
    """Return why each option went that no drop lists: several options held it, and went one after the other."""
    known = {option for drop in drops for option in (drop.option, *drop.lost)}
    found = []
    for option in sorted(before.on - known - frozenset(on_after)):
        gone = [one for one in before.selectors(option) if one not in on_after]
        names = ", ".join([*gone[:_NAMED], *(["..."] if len(gone) > _NAMED else [])])
        found.append(Followed(option, f"all that selected it went: {names}" if gone else "it followed from others"))
    return tuple(found)
