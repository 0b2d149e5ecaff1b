"""A fitted host, shown: each figure with what it is made of, beside the model `lean`, and what to doubt."""

from rich.console import RenderableType
from rich.text import Text

from bootlab.measure.host_fit.result import FittedFigure, HostFit
from bootlab.price.classes import CLASSES, FAULT_2M, FAULT_4K
from bootlab.price.host_model import HostModel, read_host_model
from bootlab.report.parts.figures import visible
from bootlab.report.parts.terminal_tables import plain_table
from bootlab.report.parts.view import View


def fit_view(found: HostFit) -> View:
    """Return what a fit found; it is good, whatever is to be doubted."""
    lean = read_host_model("lean")
    rows = plain_table("timed on this host", "ns>", "middle half>", "batches>", "outliers>", "`lean` ns>")
    for one in found.figures:
        rows.add_row(
            visible(one.name), _ns(one.ns), f"{_ns(one.low_ns)} to {_ns(one.high_ns)}", f"{one.samples:,}",
            f"{one.outliers:,}" if one.outliers else "", _lean(lean, one),
        )  # fmt: skip
    lines: list[RenderableType] = [rows, ""]
    lines += [Text(visible(f"not timed: {name}: {why}; the model has lean's")) for name, why in found.not_timed.items()]
    lines += [Text(visible(f"caution: {words}"), style="bold") for words in found.cautions]
    host = found.host
    lines.append(
        Text(visible(f"{host.get('cpu_model')}, Linux {host.get('kernel')}, QEMU {found.qemu}; {found.wall_s:.1f} s"))
    )
    backed = "huge pages" if found.memory == "2M" else "pages of 4 KiB"
    lines.append(f"rules {found.rules}; a guest's memory is backed by {backed} where a system file does not say")
    if found.file:
        lines.append(Text(visible(f"host model: {found.file} (--price {found.file}, clock.host_model)")))
    return View(found, tuple(lines))


def _ns(ns: float) -> str:
    return f"{ns:,.0f}" if ns >= 10 else f"{ns:.3g}"


def _lean(lean: HostModel, one: FittedFigure) -> str:
    if one.name in CLASSES:
        return _ns(lean.exit[one.name].ns)
    known = {FAULT_4K: lean.fault.small.ns, FAULT_2M: lean.fault.huge.ns, "instruction": lean.instruction.ns}
    return _ns(known[one.name]) if one.name in known else ""
