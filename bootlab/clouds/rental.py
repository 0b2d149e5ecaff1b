"""What every cloud promises of one rented machine: it is ordered, looked at, and ended whatever happens."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Rented:
    """A machine as its cloud sees it. `address`: None while it has none; `ended`: why it is gone, None while it is."""

    is_running: bool
    address: str | None = None
    ended: str | None = None


class Rental(Protocol):
    """One rented machine, ordered once. Every call may take seconds, and raises BootFailed where the cloud refuses."""

    @property
    def poll_s(self) -> float:
        """How long until it is looked at again."""
        ...

    @property
    def guard(self) -> dict[str, Any]:
        """What the guardian must know to end the machine when this process is gone; no credentials (guardian.py)."""
        ...

    def order(self) -> str:
        """Order the machine, and return what it is called."""
        ...

    def look(self) -> Rented:
        """Return how its cloud sees the machine now."""
        ...

    def restart(self) -> None:
        """Switch it off, wait until it is, and let it be started by `order` again."""
        ...

    def console(self) -> bytes:
        """Return what its console has said, empty where nobody knows."""
        ...

    def end(self) -> None:
        """End it and all that was ordered for it; nothing to do where there is nothing."""
        ...
