"""Two counts of one boot side by side: class by class, function by function, each difference with its name or none.

What time does not decide must be equal to the exit, but for differences that are named here with the most that they may
be; the serial line and the pages to 2 %. What time decides is shown and not judged: its rate is the host's.
"""

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass

from bootlab.report.parts.markdown import prose
from tests.boot.machines.nested_kvm.exits import FAULT, SERIAL, Counted, classes

NEAR = 0.02
"""How far the serial line and the pages may be apart, as a part of what was counted."""

_MIB = 1 << 20 - 12


@dataclass(frozen=True, slots=True)
class Named:
    """A difference that is known. `functions`: where it is, all if empty; `most`: exits of a class, both ways added.

    `rounds`: of a loop that looks at a clock in each round: they differ by as many as its looks, which time decides.
    """

    exit_class: str
    functions: tuple[str, ...]
    most: int
    why: str
    rounds: bool = False

    def is_of(self, exit_class: str, function: str) -> bool:
        """Return whether this is the name of a difference there."""
        return self.exit_class == exit_class and (not self.functions or function in self.functions)


@dataclass(frozen=True, slots=True)
class Row:
    """One class. `why`: names of its differences; `unnamed`: function -> counted less predicted, what has no name."""

    name: str
    predicted: int
    counted: int
    why: tuple[str, ...] = ()
    unnamed: tuple[tuple[str, int], ...] = ()
    judged: bool = True

    @property
    def good(self) -> bool:
        """Return whether nothing is left without a name."""
        return not self.unnamed


def compare(
    predicted: Counted, real: Counted, named: Sequence[Named], by_time: Container[str] = frozenset()
) -> list[Row]:
    """Return the rows of the table: classes that time does not decide, pages, and then what time decides.

    `by_time`: classes that time decides in this case, whatever the rules say of them.
    """
    counts = (predicted, real)
    rows = [_near_row(SERIAL, predicted.of(SERIAL), real.of(SERIAL))]
    for name in classes(counts):
        if name != SERIAL and name not in by_time:
            looks = _differences(*(one.of(name, by_time=True) for one in counts))
            rows.append(_exact_row(name, (predicted.of(name), real.of(name)), named, looks))
    rows.append(_page_row(predicted, real))
    for name in classes(counts):
        at_rate, came = (_at_rate(one, name, whole=name in by_time) for one in counts)
        rows.append(Row(f"{name}, by time", at_rate, came, judged=False))
    return [row for row in rows if row.predicted or row.counted]


def _at_rate(counted: Counted, name: str, *, whole: bool) -> int:
    return sum(counted.of(name, by_time=True).values()) + (sum(counted.of(name).values()) if whole else 0)


def _differences(predicted: dict[str, int], real: dict[str, int]) -> dict[str, int]:
    found = {name: real.get(name, 0) - predicted.get(name, 0) for name in {*predicted, *real}}
    return {name: found[name] for name in sorted(found, key=lambda name: (-abs(found[name]), name)) if found[name]}


def _exact_row(
    name: str, counts: tuple[dict[str, int], dict[str, int]], named: Sequence[Named], looks: dict[str, int]
) -> Row:
    predicted, real = counts
    why: list[str] = []
    unnamed, used = [], Counter[Named]()
    for function, difference in _differences(predicted, real).items():
        known = next((one for one in named if one.is_of(name, function)), None)
        rounds = known is not None and known.rounds and difference == looks.get(function)
        if known is None or (not rounds and used[known] + abs(difference) > known.most):
            unnamed.append((function, difference))
            continue
        used[known] += abs(difference)
        why += [] if known.why in why else [known.why]
    return Row(name, sum(predicted.values()), sum(real.values()), tuple(why), tuple(unnamed))


def _near_row(name: str, predicted: dict[str, int], real: dict[str, int]) -> Row:
    allowed = NEAR * sum(real.values())
    far = tuple(item for item in _differences(predicted, real).items() if abs(item[1]) > allowed)
    return Row(name, sum(predicted.values()), sum(real.values()), ("to 2 %, function by function",), far)


def _page_row(predicted: Counted, real: Counted) -> Row:
    both = predicted.pages.keys() & real.pages.keys()
    # Below 1 MiB firmware changes the slots of memory, and who comes first to a new one is no first touch.
    high = {page for page in both if page >= _MIB}
    same = sum(predicted.pages[page] == real.pages[page] for page in high)
    why = f"{len(both):,} the same; of {len(high):,} above 1 MiB {same:,} first touched by the same function"
    why += f"; {real.faults:,} faults in all"
    allowed = NEAR * len(real.pages)
    apart = {
        "[pages]": len(both) - len(real.pages),
        "[functions]": same - len(high),
        "[their number]": len(real.pages) - len(predicted.pages),
    }
    far = tuple(item for item in apart.items() if abs(item[1]) > allowed)
    return Row(FAULT, len(predicted.pages), len(real.pages), (why,), far)


def table(title: str, rows: Sequence[Row], functions: int = 12) -> str:
    """Return the rows that differ as a table in Markdown, and below it those that are equal.

    `functions`: of how many at most a row tells what they differ by, where that has no name.
    """
    alike = [row for row in rows if row.predicted == row.counted and row.name != FAULT and not row.unnamed]
    lines = [f"| {title} | predicted | counted | difference | what differs |", "|---|---:|---:|---:|---|"]
    lines += [_line(row, functions) for row in rows if row not in alike]
    text = "\n".join(lines)
    equal = ", ".join(f"`{row.name}` {row.counted:,}" for row in alike)
    return f"{text}\n\n{prose(f'Equal: {equal}.')}" if alike else text


def _line(row: Row, functions: int) -> str:
    why = [*row.why] if row.judged else ["the host's rate"]
    if row.unnamed:
        said = [f"`{name}` {by:+,}" for name, by in row.unnamed[:functions]]
        said += ["others"] * (len(row.unnamed) > functions)
        why.append(f"without a name: {', '.join(said)}")
    figures = f"{row.predicted:,} | {row.counted:,} | {row.counted - row.predicted:+,}"
    return f"| {row.name} | {figures} | {'; '.join(why)} |".replace("|  |", "| |")
