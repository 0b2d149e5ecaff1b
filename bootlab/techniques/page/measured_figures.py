"""Our own figures: what trials on record measured, beside the published ones. docs/measured.json holds them.

`bootlab techniques --measured RUN` writes the file from trials; nobody writes a figure by hand.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError, model_validator

from bootlab.document import Document
from bootlab.errors import InputError
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.verdict import Verdict, in_words_of_the_clock

SCHEMA: Final = "bootlab.measured/1"
_UNPROVEN: Final = {
    Effect.NOT_SHOWN: ", no boot shows that it took effect",
    Effect.NONE: ", its boots show that it took no effect",
}


class MeasuredFigure(Document):
    """What one technique did alone on one system."""

    technique: str
    system: str
    kernel: str
    """Its version, or the start of its hash."""
    clock: str
    """`virtual` or `wall`."""
    baseline_ns: int
    saved_ns: int | None
    """Negative is longer; None when it broke the boot."""
    spread_ns: int
    verdict: Verdict
    kernel_bytes_saved: int | None
    """None when the kernel is the same file, or a size is not known."""
    command: str
    """What measures it again."""
    load_saved_ns: int | None = None
    """Of `saved_ns`, what loading smaller files saves by `model`; None without one, and where boots do not tell it."""
    execution: Verdict | None = None
    """The verdict on the rest; None where `load_saved_ns` is."""
    model: str = ""
    """What a storage or board model says that loading takes; empty without one."""
    disks: str = ""
    """Which of its disks are modelled, as in `rootfs on hdd`; empty where none is, and in older figures."""
    proof: Effect | Literal[""] = ""
    """Empty where nothing was booted, and in older figures."""
    seeds: list[int] = []
    nulls: int | None = None
    fresh: tuple[int, int] = (0, 0)
    """Fresh boots before and after that the verdict rests on."""
    ticks_moved: bool = Field(default=False, exclude_if=lambda moved: not moved)
    """Each of its boots moved the kernel's ticks against its work by another part of one (`clock.tick_us`)."""
    wrong: float | None = None
    """Of techniques that do nothing, the share that would get a verdict, at most; None in older figures."""
    cpu: str = ""
    ns_per_instruction: int | None = None
    hashes: dict[str, str] = {}
    """sha256 of what the baseline booted from."""

    @model_validator(mode="before")
    @classmethod
    def _verdict_of_the_clock(cls, data: Any) -> Any:
        return in_words_of_the_clock(data, data.get("clock") if isinstance(data, dict) else None)


class MeasuredFigures(Document):
    """The file: every figure, by technique and system."""

    schema_: Literal["bootlab.measured/1"] = Field(default=SCHEMA, alias="schema")
    results: list[MeasuredFigure] = []


def read_measured(path: Path) -> MeasuredFigures:
    """Return the figures of a file; none when there is no such file. Raises InputError for any other file."""
    try:
        return MeasuredFigures.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return MeasuredFigures()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except (ValueError, ValidationError) as error:
        raise InputError(
            f"{path}: not a file of measured figures", hint="bootlab techniques --measured RUN writes one anew"
        ) from error


def merge_measured(old: MeasuredFigures, new: Iterable[MeasuredFigure]) -> MeasuredFigures:
    """Return `old` with `new` in place of what it says of the same technique on the same system, kernel and clock."""
    found = {(one.technique, one.system, one.kernel, one.clock): one for one in (*old.results, *new)}
    return MeasuredFigures(results=[found[key] for key in sorted(found)])


def figure_words(one: MeasuredFigure) -> str:
    """Return a figure for a reader, as in `shorter: -12.3 ms of 61.6 ms, which moves by 0.05 ms (microvm, ...)`."""
    where = f"{one.system}, {one.kernel}, {one.clock} clock{f', {one.disks}' if one.disks else ''}"
    where += ", ticks moved" if one.ticks_moved else ""
    if one.saved_ns is None or not (one.verdict.saves or one.verdict.costs):
        saved = one.verdict if one.saved_ns is None else f"{one.verdict} ({_ms(-one.saved_ns)}, {_why_not(one)})"
    else:
        saved = f"{one.verdict}: {_ms(-one.saved_ns)} of {_whole(one.baseline_ns)}, which moves by {_span(one)}"
    if one.load_saved_ns is not None and one.saved_ns is not None and one.execution is not None:
        rest_ns = one.saved_ns - one.load_saved_ns
        saved += f", of it {_ms(-one.load_saved_ns)} load by {one.model}, {_ms(-rest_ns)} execution: {one.execution}"
    elif one.saved_ns is not None:
        # Without a model kernel and initramfs are in memory at once; a board's loader executes what it takes to load.
        saved += f", load by {one.model} not told apart" if one.model else ", all of it execution and waiting"
    saved += _UNPROVEN.get(one.proof or Effect.PROVEN, "")
    if one.wrong is None and (one.verdict.saves or one.verdict.costs):
        saved += ", not confirmed by fresh boots"
    size = f", kernel {-one.kernel_bytes_saved / 1000:+.0f} KB" if one.kernel_bytes_saved else ""
    return f"{saved}{size} ({where})"


def figures_of(technique: str, measured: Iterable[MeasuredFigure]) -> list[str]:
    """Return our figures of one technique, in words."""
    return [figure_words(one) for one in measured if one.technique == technique]


def sizes_words(measured: Sequence[MeasuredFigure]) -> str:
    """Return how the figures were come by that most have in common, and which of them otherwise; empty for none."""
    sized = Counter((tuple(one.seeds), one.nulls, one.wrong) for one in measured if one.wrong is not None)
    if not sized:
        return ""
    common, number = sized.most_common(1)[0]
    others = [one for one in measured if (tuple(one.seeds), one.nulls, one.wrong) != common]
    seeds, nulls, wrong = common
    said = (
        f"{number} figures are of seeds {' '.join(map(str, seeds))} on both sides, of {nulls} null changes of the "
        f"baseline and of fresh boots where they differ: of techniques that do nothing at most {100 * (wrong or 0):g} "
        "% would get a verdict."
    )
    named = ", ".join(f"`{one.technique}` on {one.system}" for one in others)
    return f"{said} Otherwise measured, as docs/measured.json has it: {named}." if named else said


def _why_not(one: MeasuredFigure) -> str:
    # The median may lie outside where one of the seeds does not.
    inside = abs(one.saved_ns or 0) <= one.spread_ns
    return f"{'within' if inside else 'not with every seed beyond'} +-{_span(one)}"


def _whole(ns: int) -> str:
    return f"{ns / 1e6:.0f} ms" if ns >= 1e10 else f"{ns / 1e6:.4g} ms"


def _ms(ns: int) -> str:
    if 0 < abs(ns) < 100:
        return f"{ns:+d} ns"
    return f"{ns / 1e6:+.0f} ms" if abs(ns) >= 1e9 else f"{ns / 1e6:+.3g} ms"


def _span(one: MeasuredFigure) -> str:
    return f"{one.spread_ns / 1e6:.3g} ms"
