"""What every target promises: a session that powers a machine on, reports what it says, and always ends.

A session speaks in two kinds of event, both stamped with the host's CLOCK_MONOTONIC in ns, taken before any decoding.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class EndReason(StrEnum):
    GUEST_SHUTDOWN = "guest shutdown"
    GUEST_RESET = "guest reset"
    GUEST_PANIC = "guest panic"
    STOPPED = "stopped"
    """The host asked for it, or the plugin's stop mark was reached."""
    DIED = "died"
    """The machine ended by itself: a signal, a crash, an error exit."""


@dataclass(frozen=True, slots=True)
class ConsoleBytes:
    """Bytes the machine wrote to its console, in one read."""

    t_ns: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Ended:
    """The machine is gone; the last event of a session. `detail` is a line for a reader, empty when all is well."""

    t_ns: int
    reason: EndReason
    detail: str = ""


class Session(Protocol):
    """One machine from before power-on to its end. Use as an async context manager: leaving it ends the machine."""

    async def power_on(self) -> int:
        """Let the machine run; returns the host's monotonic time in ns at which it was let go."""
        ...

    def events(self) -> AsyncIterator[ConsoleBytes | Ended]:
        """Yield what the machine does, in order; ends after `Ended`."""
        ...

    def withheld_s(self) -> float:
        """Return the seconds that the machine was ready to run and its host ran something else; 0.0 for a board."""
        ...

    async def stop(self) -> None:
        """End the machine in an orderly way; `Ended` follows in `events()`."""
        ...
