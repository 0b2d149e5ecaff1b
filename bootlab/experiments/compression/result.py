"""The result of a compression study as values. The JSON's shape is in docs/formats.md."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.experiments.compression.crossover import Choice, best_choices, crossing_mb_s
from bootlab.experiments.sweep.result import Figure

SCHEMA: Final = "bootlab.compression/1"
What = Literal["kernel", "initramfs"]


class Option(Document):
    """One way to compress, and what a boot with it took; without figures when it could not be measured."""

    name: str
    outcome: str
    """`ready`, what a boot came to instead, or `not built`."""
    detail: str = ""
    size: int | None = None
    """Bytes of the compressed kernel or initramfs."""
    loaded: int = 0
    """Bytes of all that is loaded: kernel and initramfs."""
    files: int = 0
    """Number of files loaded; each costs the storage's latency."""
    unpack: Figure | None = None
    """Kernel: the decompressor's phase. Initramfs: to user space, less the same with no compression."""
    boot: Figure | None = None
    """Power-on to user space, without loading."""
    boots_ns: list[int] = []
    """The same of each seed, in the order of the seeds."""
    runs: list[str] = []
    """Directories of the boots."""


class Range(Document):
    """The best choice from one storage speed to another, in MB/s; `to_mb_s` is null for any faster one.

    `low_mb_s` and `high_mb_s`: between which speeds the upper end lies, seed by seed; null where a seed has none.
    """

    name: str
    from_mb_s: float
    to_mb_s: float | None
    low_mb_s: float | None = None
    high_mb_s: float | None = None


class Table(Document):
    """The options for one thing to compress."""

    what: What
    options: list[Option]
    totals_ns: dict[str, list[int]]
    """Option -> load and boot at each of the study's speeds."""
    best: list[Range]


class CompressionResult(Document):
    """A compression study."""

    schema_: Literal["bootlab.compression/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    clock: str
    accelerator: str
    ns_per_instruction: int | None
    cpu: str
    seeds: list[int]
    speeds_mb_s: list[float]
    latency_us: float
    tables: list[Table]
    left_out: list[str]
    """What was not studied, and why."""
    hashes: dict[str, str]
    host: dict[str, Any]
    run: str


def choice_of(option: Option, latency_us: float, boot_ns: int | None = None) -> Choice | None:
    """Return an option as what it loads and then takes, by its median or by `boot_ns`; None when it did not boot."""
    if option.boot is None:
        return None
    boot_ns = option.boot.median if boot_ns is None else boot_ns
    return Choice(option.name, option.loaded, boot_ns + round(option.files * latency_us * 1000))


def make_table(what: What, options: Sequence[Option], speeds_mb_s: Sequence[float], latency_us: float) -> Table:
    """Return the options with their totals and with where the best choice changes."""
    choices = {one.name: choice for one in options if (choice := choice_of(one, latency_us)) is not None}
    by_name = {one.name: one for one in options}
    best = best_choices(list(choices.values()))
    ranges = []
    for now, after in zip(best, [*best[1:], None], strict=True):
        found: list[float | None] = []
        if after is not None:
            found = _by_seed(by_name[now.name], by_name[after.name], latency_us)
        known = [speed for speed in found if speed is not None]
        whole = len(known) == len(found) and bool(known)
        ranges.append(
            Range(
                name=now.name,
                from_mb_s=now.from_mb_s,
                to_mb_s=now.to_mb_s,
                low_mb_s=min(known) if whole else None,
                high_mb_s=max(known) if whole else None,
            )
        )
    totals = {name: [choice.total_ns(speed) for speed in speeds_mb_s] for name, choice in choices.items()}
    return Table(what=what, options=list(options), totals_ns=totals, best=ranges)


def _by_seed(small: Option, large: Option, latency_us: float) -> list[float | None]:
    crossings = []
    for one_ns, other_ns in zip(small.boots_ns, large.boots_ns, strict=True):
        one, other = choice_of(small, latency_us, one_ns), choice_of(large, latency_us, other_ns)
        assert one is not None and other is not None
        crossings.append(crossing_mb_s(one, other))
    return crossings
