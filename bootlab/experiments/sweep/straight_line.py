"""The straight line through the points of a sweep: what one more of something costs, and whether that is all.

Pure: values in, values out.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StraightLine:
    """The least-squares line through points (x, ns)."""

    slope: float
    """ns for one more on the axis."""
    at_zero: float
    """ns where the line meets zero on the axis: what it costs without any."""
    residual: float
    """ns by which the point farthest from the line misses it."""

    def is_straight(self, points: int, spread_ns: int) -> bool | None:
        """Return whether the line explains the points: none misses it by more than the boots move for no reason.

        None where that cannot be told: two points always lie on a line. `spread_ns` is the largest range of the boots
        behind one point.
        """
        return None if points < 3 else self.residual <= max(spread_ns, 1)


def fit(axis: Sequence[float], values: Sequence[int]) -> StraightLine:
    """Return the line through the points; at least two different places on the axis."""
    steep = slope(axis, values)
    at_zero = sum(values) / len(values) - steep * sum(axis) / len(axis)
    residual = max(abs(y - (at_zero + steep * x)) for x, y in zip(axis, values, strict=True))
    return StraightLine(steep, at_zero, residual)


def slope(axis: Sequence[float], values: Sequence[int]) -> float:
    """Return the slope of the least-squares line through the points; at least two different places on the axis."""
    middle = sum(axis) / len(axis)
    level = sum(values) / len(values)
    spread = sum((x - middle) ** 2 for x in axis)
    return sum((x - middle) * (y - level) for x, y in zip(axis, values, strict=True)) / spread
