"""Compares what the screen showed at each of its marks before a change and behind it, by the hashes of the pictures.

A picture need not be the same in all boots of one system (a mark may see a repaint under way), so a mark's is other
than before where no boot behind the change shows one that some boot before it shows.
"""

from collections.abc import Sequence

from bootlab.experiments.family import Family
from bootlab.measure.record import BootRecord


def same_pictures(before: Family, after: Family) -> dict[str, bool]:
    """Return, of each mark that has pictures before, whether a boot behind the change shows one of these.

    Empty where no boot before has a picture of a mark.
    """
    shown, now = _pictures(before.boots), _pictures(after.boots)
    return {mark: not pictures.isdisjoint(now.get(mark, set())) for mark, pictures in shown.items()}


def _pictures(records: Sequence[BootRecord]) -> dict[str, set[str]]:
    """Return the hashes of each mark's pictures, in the order of the marks."""
    found: dict[str, set[str]] = {}
    for record in records:
        for picture in record.screen.pictures if record.screen is not None else []:
            if picture.mark is not None:
                found.setdefault(picture.mark, set()).add(picture.pixels_sha256)
    return found
