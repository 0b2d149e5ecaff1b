"""Where boots run: one promise, kept by this host and by a cluster of others (`bootlab.cluster`).

An engine asks its place for one boot at a time from as many threads as the place wants, and does not know which it is.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.record import BootRecord
from bootlab.targets.target import Prepared


class BootPlace(Protocol):
    """Where the boots of an engine run."""

    @property
    def parallel(self) -> int:
        """How many virtual-clock boots run at once."""
        ...

    @property
    def asked_ahead(self) -> int:
        """How many boots the place wants to know of at once, so that none of its machines waits for the next."""
        ...

    def furnish(self, shop: Workshop) -> Workshop:
        """Return the workshop with its kernels compiled where this place has them compiled."""
        ...

    def boot(self, prepared: Prepared, directory: Path, cancelled: Callable[[], bool]) -> BootRecord:
        """Boot once and return the record; `directory`, which is new and empty, then holds the boot. From any thread.

        Raises as `measure.boot.boot`, and BootlabError where the place is lost.
        """
        ...


class Here:
    """This host. `parallel`: virtual-clock boots at once; one a core where nothing else is said."""

    def __init__(self, parallel: int | None = None) -> None:
        self.parallel = parallel or max(1, len(os.sched_getaffinity(0)))

    @property
    def asked_ahead(self) -> int:
        return self.parallel

    def furnish(self, shop: Workshop) -> Workshop:
        return shop

    def boot(self, prepared: Prepared, directory: Path, cancelled: Callable[[], bool]) -> BootRecord:
        return boot(prepared, directory, cancelled=cancelled)
