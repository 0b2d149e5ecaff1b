"""The two figures of boots that have a price, apart: instructions and idle time, and the price under a host model."""

from collections.abc import Sequence

from bootlab.measure.price import counted_view, priced_view
from bootlab.measure.record import BootRecord
from bootlab.report.parts.figures import COUNTED, price_words


def views(records: Sequence[BootRecord]) -> list[tuple[str, list[BootRecord]]]:
    """Return (what the times are, the boots with these times): twice for priced boots, else once as they are.

    A boot that was not ready has no price, and is in both without one.
    """
    return [(what, groups[0]) for what, groups in side_views([records])]


def side_views(sides: Sequence[Sequence[BootRecord]]) -> list[tuple[str, list[list[BootRecord]]]]:
    """Return the same of several sides: (what the times are, each side's boots with these times)."""
    every = [record for records in sides for record in records]
    price = next((record.price for record in every if record.price is not None), None)
    if price is None:
        return [(every[0].clock, [list(records) for records in sides])]
    return [
        (COUNTED, [[counted_view(record) for record in records] for records in sides]),
        (price_words(price.model), [[priced_view(record) for record in records] for records in sides]),
    ]
