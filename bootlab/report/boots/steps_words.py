"""The words and sums of several systems compared step by step, for the terminal and the page alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from bootlab.experiments.comparing import Comparison, Steps
from bootlab.measure.price import judged_view
from bootlab.measure.record import BootRecord
from bootlab.report.boots.side_by_side import Side
from bootlab.report.parts.cautions import warnings
from bootlab.report.parts.figures import median_boot, ms, percent, price_words, ratio_words

KINDS = ("baseline", "step", "recommended")
"""The CSS classes that colour the first system, those between, and the last."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One system of the steps. `step` compares it with the one before: None for the first."""

    number: int
    name: str
    total_ns: int | None
    """Power-on to ready, load included; None where a boot was not ready."""
    step: Comparison | None
    kind: str

    @property
    def title(self) -> str:
        return f"{self.number} {self.name}"

    @property
    def saved_ns(self) -> int | None:
        """Return what the step saved; None for the first system, and where a side was not ready."""
        return self.step.saved_ns if self.step is not None else None


def rungs(result: Steps) -> list[Rung]:
    """Return the systems in order, numbered from 1."""
    first = result.steps[0]
    found = [Rung(1, first.before, first.before_ns, None, KINDS[0])]
    for number, step in enumerate(result.steps, 2):
        kind = KINDS[1] if number <= len(result.steps) else KINDS[2]
        found.append(Rung(number, step.after, step.after_ns, step, kind))
    return found


def sides(result: Steps, series: Sequence[Sequence[BootRecord]]) -> list[Side]:
    """Return the median boot of each system, to be laid side by side."""
    middles = [judged_view(median_boot(boots)) for boots in series]
    return [
        Side(str(rung.number), rung.kind, middle.ready_ns, middle.phases)
        for rung, middle in zip(rungs(result), middles, strict=True)
    ]


def in_all(result: Steps, total_ns: int | None) -> str:
    """Return the share of the first system's time that is saved at a system, in percent; empty when unknown."""
    start_ns = result.whole.before_ns
    return percent(start_ns - total_ns, start_ns) if start_ns is not None and total_ns is not None else ""


def whole_words(result: Steps) -> str:
    """Return where it started and ended, and the ratio, as in `10.00 -> 4.00 ms virtual, 2.50x ...`."""
    whole = result.whole
    if not whole.before_ns or not whole.after_ns:
        return f"{ms(whole.before_ns) or 'not ready'} -> {ms(whole.after_ns) or 'not ready'}"
    price = None if whole.price is None else price_words(whole.price)
    ratio = f"{whole.before_ns / whole.after_ns:.2f}x {ratio_words(result.clock) if price is None else f'less {price}'}"
    return f"{ms(whole.before_ns)} -> {ms(whole.after_ns)} ms {price or result.clock}, {ratio}"


def figure_words(result: Steps) -> str:
    """Return what the figures are on: the clock's name, or whose price they are."""
    return result.clock if result.whole.price is None else price_words(result.whole.price)


def counted(result: Steps) -> list[int | None] | None:
    """Return instructions + idle of each system, where the steps are of prices; else None."""
    if result.whole.price is None:
        return None
    return [result.steps[0].counted_before_ns, *(step.counted_after_ns for step in result.steps)]


def time_words(series: Sequence[Sequence[BootRecord]]) -> str:
    """Return what the times are the times of: with a storage model they include the load."""
    price = next((boot.price for boots in series for boot in boots if boot.price is not None), None)
    ready = "ready" if price is None else price_words(price.model)
    return f"load + {ready}" if any(boots[0].storage is not None for boots in series) else ready


def cautions(series: Sequence[Sequence[BootRecord]]) -> list[str]:
    """Return what a reader must know before reading the steps, each once. Raises InputError on different clocks."""
    pairs = zip(series, series[1:], strict=False)
    return list(dict.fromkeys(caution for before, after in pairs for caution in warnings(before, after)))
