"""Systems made ready at the same time, as far as it helps: while a cluster compiles one kernel, the next system begins.

All that is made on this host is made by one thread at a time.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from bootlab.build.kernel.order import KernelOrder
from bootlab.build.workshop import CompilePlace, Workshop
from bootlab.errors import Interrupted

_MOST: Final = 64
_Made = TypeVar("_Made")


class Making:
    """Gives who makes systems ready his turn. `shop`: the workshop for it, which ends a turn while a kernel is away."""

    def __init__(self, shop: Workshop) -> None:
        self._turn = threading.Lock()
        self._stopped = threading.Event()
        self.at_once = shop.compile_place is not None
        """Whether kernels are compiled elsewhere, several at a time."""
        if shop.compile_place is not None:
            place = _Meanwhile(shop.compile_place, self._turn)
            shop = replace(shop, compile_place=place, cancelled=self._stopped.is_set)
        self.shop = shop

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold what `shop` makes against every other thread. Raises Interrupted where nobody waits for it any more."""
        with self._turn:
            if self._stopped.is_set():
                raise Interrupted("interrupted")
            yield

    def each(self, makes: Sequence[Callable[[], _Made]]) -> list[_Made]:
        """Return what each of `makes` returns, in order; each takes a turn for itself.

        Raises what one of them raises, the first in order, after the others have ended.
        """
        if not self.at_once or len(makes) < 2:
            return [make() for make in makes]
        with ThreadPoolExecutor(min(_MOST, len(makes)), thread_name_prefix="make") as pool:
            futures = [pool.submit(make) for make in makes]
            try:
                return [future.result() for future in futures]
            except BaseException:
                self._stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            finally:
                self._stopped.clear()


@dataclass(frozen=True, slots=True)
class _Meanwhile:
    """Where kernels are compiled, for a thread whose turn it is: another one has it meanwhile."""

    place: CompilePlace
    turn: threading.Lock

    def compile(self, shop: Workshop, order: KernelOrder, initramfs: Path | None) -> bool | None:
        self.turn.release()
        try:
            return self.place.compile(shop, order, initramfs)
        finally:
            self.turn.acquire()
