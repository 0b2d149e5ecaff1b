"""Decides which options a kernel can do without, from what a profiled boot used of it, before anything is built.

Each option is turned off in kconfig's own terms, with all that goes with it; the makefiles then say which objects are
no longer built. The cut may take what ran at most as late as `deepest`; what the job used stays, and so does an option
whose own functions, in files that stay, the job ran.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from bootlab.build.kernel.makefiles import Makefiles, holds
from bootlab.build.source.option_dependencies import Closure, KconfigTree
from bootlab.experiments.tailor.code_cost import is_passed_through
from bootlab.experiments.tailor.ifdef_use import Guarded
from bootlab.experiments.tailor.kernel_use import KernelUse, Use
from bootlab.experiments.tailor.protected import Guard, Policy

Ways = Callable[[Collection[int], Collection[Guarded]], tuple[int, int]]
"""How many ways the job had into some code: by a call that names it, and by a pointer (code_cost.py)."""


@dataclass(frozen=True, slots=True)
class Drop:
    """An option that goes, and what goes with it. `bytes` and `instructions` are those of the objects it removes.

    For an attempt (attempts.py), `instructions` are all that the boot would not have executed.
    """

    option: str
    lost: tuple[str, ...]
    """Other options that go with it."""
    gained: tuple[str, ...]
    """Options that come on in its place."""
    objects: tuple[str, ...]
    bytes: int
    instructions: int
    use: Use
    """The latest phase in which anything of it ran."""
    value: str = "n"
    """`y` for an option that is turned on, because it takes code out."""
    why: str = ""
    """The reason, for an attempt and for an option that the user gives up; for other options `use` is the reason."""

    @property
    def given(self) -> tuple[str, str]:
        """Return the option and what it is set to."""
        return self.option, self.value


@dataclass(frozen=True, slots=True)
class Kept:
    """An option that stays, with its reason in one line and the kind of that reason."""

    option: str
    why: str
    kind: str
    """`used`, `protected`, `asked`, `selected`, `choice`, `follows`, `behaviour`, `check`, `turned on`, `untried`."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What can go at once, and why the rest stays."""

    drops: tuple[Drop, ...]
    kept: tuple[Kept, ...]
    on: frozenset[str]
    """The options that are on after the cut."""


class KernelEvidence:
    """What a record and the makefiles say of one kernel. `needed`: options that a check has been seen to need."""

    def __init__(
        self,
        makefiles: Makefiles,
        use: KernelUse,
        guarded: Mapping[str, Guarded],
        policy: Policy,
        *,
        needed: Collection[str] = (),
    ) -> None:
        self.use = use
        self.guarded = guarded
        self.policy = policy
        self.needed = frozenset(needed)
        self.conditions = tuple(makefiles.conditions(one.path) for one in use.objects.objects)
        """The options under which each object is built, by the object's index."""
        self._touching = defaultdict[str, list[int]](list)
        self.absent = {option[1:] for option in guarded if option.startswith("!")}
        """Options that must be off for some object or code to be built."""
        for index, alternatives in enumerate(self.conditions):
            words = {word for condition in alternatives for word in condition}
            self.absent |= {word[1:] for word in words if word.startswith("!")}
            for word in {word.lstrip("!") for word in words}:
                self._touching[word].append(index)

    def built(self, on: Collection[str]) -> set[int]:
        """Return the indexes of the objects that are built with these options on."""
        return {index for index in range(len(self.conditions)) if self._is_built(index, on)}

    def no_longer_built(self, closure: Closure, on: frozenset[str], built: Collection[int]) -> set[int]:
        """Return which of the objects that are `built` with the options `on` no longer are after a change."""
        after = (on - closure.lost) | closure.gained
        touched = {index for option in closure.lost | closure.gained for index in self._touching.get(option, ())}
        return {index for index in touched if index in built and not self._is_built(index, after)}

    def protected(self, closure: Closure, tree: KconfigTree) -> Kept | None:
        """Return why an option must stay as it is whatever ran of it, or None."""
        option = closure.option
        if option in self.needed:
            return Kept(option, "without it the check failed, or nothing was won", "check")
        for lost in sorted(closure.lost, key=lambda one: (one != option, one)):
            if lost in self.needed:
                return Kept(
                    option, f"without {lost} the check failed, or nothing was won{_through(lost, option)}", "check"
                )
            protected = self.policy.protected(lost, tree.place(lost))
            if protected is not None:
                kind = "asked" if protected.guard is Guard.ASKED else "protected"
                return Kept(option, f"{protected.why}{_through(lost, option)}", kind)
        return None

    def _is_built(self, index: int, on: Collection[str]) -> bool:
        # What no makefile mentions is there whatever is on.
        alternatives = self.conditions[index]
        return not alternatives or any(holds(condition, on) for condition in alternatives)


def find_cut(
    tree: KconfigTree,
    evidence: KernelEvidence,
    *,
    deepest: Use = Use.ASIDE,
    ways: Ways = lambda objects, guarded: (0, 1),
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Cut:
    """Return the cut, leaving `tree` as the configuration that it leads to.

    `ways` tells what the job asked for from what it passed through, of all that goes with an option that is given up.
    `progress` gets options looked at, and how many there are.
    """
    policy = evidence.policy
    drops, reasons = list[Drop](), dict[str, Kept]()
    built = evidence.built(tree.on)
    while True:
        found = len(drops)
        candidates = [option for option in sorted(tree.on) if tree.can_turn_off(option)]
        closures = []
        for number, option in enumerate(candidates):
            progress(number, len(candidates))
            closures.append(tree.closure(option))

        # A whole subsystem at once, rather than its parts one after another.
        # What a user lets go goes first: it may be all that still calls others.
        def order(one: Closure) -> tuple[bool, int, str]:
            return not policy.given_up(one.option, tree.place(one.option)), -len(one.lost), one.option

        for first in sorted(closures, key=order):
            if not tree.can_turn_off(first.option):
                continue
            closure = tree.closure(first.option) if len(drops) > found else first
            gone = evidence.no_longer_built(closure, tree.on, built)
            given_up = policy.given_up(first.option, tree.place(first.option))
            kept = evidence.protected(closure, tree) or (
                _asked_for_with_it(tree, evidence, closure, built, deepest, ways)
                if given_up
                else _reason_to_keep(evidence, closure, gone, deepest)
            )
            if kept is not None:
                reasons[first.option] = kept
                continue
            drops.append(drop_of(evidence, closure, gone, why="given up by name" if given_up else ""))
            tree.turn_off(first.option)
            built -= gone
        if len(drops) == found:
            break
    return Cut(drops=tuple(drops), kept=tuple(_all_kept(tree, reasons)), on=tree.on)


def _reason_to_keep(evidence: KernelEvidence, closure: Closure, gone: Collection[int], deepest: Use) -> Kept | None:
    option, use = closure.option, evidence.use
    worst = max(gone, key=lambda index: (use.uses[index], use.instructions[index]), default=None)
    if worst is not None and use.uses[worst] > deepest:
        ran = use.example(worst)
        path = use.objects.objects[worst].path
        return Kept(option, f"executed: {ran.name if ran else 'code'} in {path}", "used")
    for lost in sorted(closure.lost, key=lambda one: (one != option, one)):
        ran_inside = evidence.guarded.get(lost)
        if ran_inside is not None and ran_inside.job and deepest < Use.JOB:
            return Kept(option, f"executed: {ran_inside.job_example}, under #if{_through(lost, option)}", "used")
    if not gone:
        return Kept(option, "takes no object out: it changes code inside of what stays", "behaviour")
    return None


def _asked_for_with_it(
    tree: KconfigTree, evidence: KernelEvidence, closure: Closure, built: Collection[int], deepest: Use, ways: Ways
) -> Kept | None:
    """Return why an option stays that the user lets go, whatever ran of itself: the job asks for what depends on it."""
    policy = evidence.policy
    lets_go = {one for one in closure.lost if policy.given_up(one, tree.place(one))}
    for other in sorted(closure.lost - lets_go):
        if not tree.can_turn_off(other):
            continue
        parts = Closure(other, (tree.closure(other).lost & closure.lost) - lets_go, frozenset())
        gone = evidence.no_longer_built(parts, tree.on, built)
        kept = _reason_to_keep(evidence, parts, gone, deepest)
        if kept is None or kept.kind != "used":
            continue
        inside = [evidence.guarded[one] for one in parts.lost if one in evidence.guarded]
        if not is_passed_through(*ways(gone, inside)):
            return Kept(closure.option, f"{kept.why} ({other} would go with it)", "used")
    return None


def _through(lost: str, option: str) -> str:
    return "" if lost == option else f" ({lost} would go with it)"


def drop_of(evidence: KernelEvidence, closure: Closure, gone: Collection[int], *, why: str = "") -> Drop:
    """Return an option that is turned off, with the objects that go."""
    objects, use = evidence.use.objects.objects, evidence.use
    return Drop(
        option=closure.option,
        lost=tuple(sorted(closure.lost - {closure.option})),
        gained=tuple(sorted(closure.gained)),
        objects=tuple(sorted(objects[index].path for index in gone)),
        bytes=sum(objects[index].size for index in gone),
        instructions=sum(use.instructions[index] for index in gone),
        use=max((use.uses[index] for index in gone), default=Use.NEVER),
        why=why,
    )


def _all_kept(tree: KconfigTree, reasons: Mapping[str, Kept]) -> Iterable[Kept]:
    for option in sorted(tree.on):
        if option in reasons and tree.can_turn_off(option):
            yield reasons[option]
        elif selectors := tree.selectors(option):
            yield Kept(
                option, f"selected by {', '.join(selectors[:4])}{', ...' if len(selectors) > 4 else ''}", "selected"
            )
        elif tree.is_choice(option):
            yield Kept(option, "one of several of which one must be taken", "choice")
        else:
            yield Kept(option, "nobody is asked for it: it follows from others", "follows")
