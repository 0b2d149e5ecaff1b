"""What the timing guest says, as it would on a host of round figures: a tick is half a ns."""

from collections.abc import Mapping

from bootlab.price.classes import CLASSES

CLOCK = "clock 2147483648 0 1"
SLEEP_NS = 1_000_000


def said(
    *,
    ns: Mapping[str, float] | None = None,
    lacks: tuple[str, ...] = (),
    huge: bool = False,
    rules: str = "svm",
    outliers: int = 0,
) -> str:
    """Return its lines: each class 1,000 ns, a page 2,000, a chunk 50,000; `ns`: others; `huge`: pages of 2 MiB."""
    figures = {name: 1_000.0 for name in CLASSES if name != "hlt"} | {"mmio_lapic": 500.0}
    figures |= {"pages": 2_000.0, "chunks": 50_000.0 if huge else 2_000.0, "rest_of_chunk": 1.0 if huge else 2_000.0}
    figures |= {"sleep": SLEEP_NS + 6_000.0, "table": 0.4, "branches": 0.6, "clearing": 0.2, **(ns or {})}
    lines = ["bootlab-host-fit 1", f"rules {rules}", CLOCK, f"sleep_ns {SLEEP_NS}"]
    lines += [f"lacks {name}" for name in lacks]
    counts = {"pages": 16, "chunks": 1, "rest_of_chunk": 511, "sleep": 1, "table": 100000, "branches": 100000}
    for name, one in figures.items():
        if name not in lacks:
            count = counts.get(name, 100000 if name == "clearing" else 16)
            ticks = [round(one * 2 * count)] * 20
            ticks[:outliers] = [tick * 10 for tick in ticks[:outliers]]
            lines.append(" ".join([name, str(count), *map(str, ticks)]))
    return "\n".join([*lines, "end", ""])
