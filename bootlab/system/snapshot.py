"""What a system says of its snapshots: that its clones are to be told who they are, and where the snapshot belongs."""

from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AfterValidator

from bootlab.system.part import MARK, TEXT, Part

_FIRST: Final = datetime(1970, 1, 2, tzinfo=UTC)
_LAST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""No kernel takes a time before the first, and some none behind 2232."""


def _expect_time(time: datetime) -> datetime:
    time = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    if not _FIRST <= time < _LAST:
        raise ValueError(f"is no time between {_FIRST:%Y-%m-%d} and {_LAST:%Y-%m-%d}")
    if time.microsecond:
        raise ValueError("has a part of a second, and clones are told whole ones")
    return time


class Snapshot(Part):
    """A system whose guest can be kept and restored as many machines: it has a device that says who each of them is."""

    at: Annotated[str, MARK] = "snapshot"
    """The mark at which the machine is kept, which `/sbin/bootlab-clone` makes, unless `bootlab snapshot --at` says
    another."""
    woken_at: Annotated[datetime, TEXT, AfterValidator(_expect_time)] | None = None
    """What time clone 1 is told as it wakes, `2031-05-01T12:00:00Z` for example, UTC where it names no zone; each next
    clone is told a second more. By default that is 2027-01-15T08:00:01Z on the virtual clock, and on the wall clock the
    host's time."""
