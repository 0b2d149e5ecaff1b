"""A fitted host as a host model: the TOML file that `--price` takes, each figure with its source."""

from collections.abc import Mapping
from typing import Final, Literal

from bootlab.measure.host_fit.result import FittedFigure
from bootlab.price.classes import CLASSES, FAULT_2M, FAULT_4K
from bootlab.price.host_model import read_host_model

OTHERWISE: Final = "lean"
"""The model whose figures stand for what was not timed."""
_LEAST_NS: Final = 10
_LEAST_INSTRUCTION_NS, _MOST_INSTRUCTION_NS = 0.001, 100.0


def model_text(
    name: str,
    where: str,
    rules: Literal["svm", "vmx"],
    memory: Literal["4K", "2M"],
    figures: Mapping[str, FittedFigure],
    not_timed: Mapping[str, str],
) -> str:
    """Return the model as TOML, `where`: the host in words. What was not timed is `lean`'s, and says so."""
    otherwise = read_host_model(OTHERWISE)
    instruction = figures["instruction"]
    parts = ", ".join(
        f"{key.partition(', ')[2]} {one.ns:.3g}" for key, one in figures.items() if key.startswith("instruction, ")
    )
    ns = min(max(instruction.ns, _LEAST_INSTRUCTION_NS), _MOST_INSTRUCTION_NS)
    lines = [
        "# A host model that `bootlab host fit` timed (docs/price.md). Times are ns.",
        "",
        f'name = "{name}"',
        f'words = "{_quoted(where)[:200]}"',
        f'rules = "{rules}"',
        "# What backs the guest's memory on the host where a system file does not say.",
        f'memory = "{memory}"',
        "",
        "[instruction]",
        f"ns = {ns:.4g}",
        f'source = "timed: mean of {parts} ns; a kernel of another mix takes another time"',
    ]
    for key in CLASSES:
        lines += ["", f"[exit.{key}]", *_figure(figures.get(key), otherwise.exit[key].ns, not_timed.get(key, ""))]
    small = _whole(figures[FAULT_4K].ns)
    lines += ["", "[fault.4K]", *_figure(figures[FAULT_4K], 0, "")]
    huge = max(small, _whole(figures[FAULT_2M].ns)) if FAULT_2M in figures else max(small, otherwise.fault.huge.ns)
    lines += ["", "[fault.2M]", *_figure(figures.get(FAULT_2M), huge, not_timed.get(FAULT_2M, ""))]
    return "\n".join(lines) + "\n"


def _figure(figure: FittedFigure | None, otherwise_ns: int, why: str) -> list[str]:
    if figure is None:
        return [f"ns = {otherwise_ns}", f'source = "not timed: {_quoted(why)}; as in {OTHERWISE}"']
    words = f"timed: median of {figure.samples} batches"
    words += f", the middle half {figure.low_ns:,.0f} to {figure.high_ns:,.0f} ns"
    if figure.outliers:
        words += f", {figure.outliers} outliers"
    if figure.ns < _LEAST_NS:
        words += f"; it was {figure.ns:.3g} ns, less than any exit: it does not leave the guest here"
    return [f"ns = {_whole(figure.ns)}", f'source = "{words}"']


def _whole(ns: float) -> int:
    return max(_LEAST_NS, round(ns))


def _quoted(text: str) -> str:
    return "".join(one for one in text if one.isprintable()).replace("\\", "/").replace('"', "'")
