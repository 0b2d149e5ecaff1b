"""Who makes systems ready takes turns, but while a kernel is compiled elsewhere. On a cluster: tests/cluster."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.kernel.order import KernelOrder
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError, Interrupted
from bootlab.experiments.making import Making

WAITS_S = 20


class Place:
    """Where kernels are compiled: it is done with one when `number` of them are there at the same time."""

    def __init__(self, number: int) -> None:
        self._met = threading.Barrier(number, timeout=WAITS_S)

    def compile(self, shop: Workshop, order: KernelOrder, initramfs: Path | None) -> bool | None:
        self._met.wait()
        return True


class Waiting:
    """A place that is done when nobody waits any more."""

    def __init__(self, begun: threading.Semaphore) -> None:
        self._begun = begun
        self.ended = 0

    def compile(self, shop: Workshop, order: KernelOrder, initramfs: Path | None) -> bool | None:
        self._begun.release()
        for _ in range(WAITS_S * 100):
            if shop.cancelled():
                self.ended += 1
                raise Interrupted("interrupted")
            threading.Event().wait(0.01)
        return True


ORDER = KernelOrder("key", "6.12", "x86_64", "", "source", "objects", {})


def making(folder: Path, place: Place | Waiting | None) -> Making:
    return Making(Workshop(Cache(folder / "cache"), compile_place=place))


def compiled(making: Making, work: Callable[[], None]) -> str:
    """Take a turn, do something with it, have a kernel compiled, and do it once more."""
    with making.turn():
        work()
        assert making.shop.compile_place is not None
        made = making.shop.compile_place.compile(making.shop, ORDER, None)
        work()
        return f"{made}"


def test_kernels_of_all_are_away_at_once_and_all_else_is_made_by_one_at_a_time(tmp_path: Path) -> None:
    maker, inside = making(tmp_path, Place(3)), list[int]()

    def work() -> None:
        inside.append(1)
        threading.Event().wait(0.02)
        assert len(inside) == 1
        inside.pop()

    assert maker.each([partial(compiled, maker, work)] * 3) == ["True"] * 3


def test_without_such_a_place_they_are_made_in_order_by_the_caller_itself(tmp_path: Path) -> None:
    maker, order = making(tmp_path, None), list[int]()

    def make(number: int) -> int:
        with maker.turn():
            assert threading.current_thread() is threading.main_thread()
            order.append(number)
            return -number

    assert maker.each([partial(make, number) for number in range(5)]) == [-number for number in range(5)]
    assert order == [*range(5)]


def test_an_error_of_one_ends_those_that_wait_for_kernels_and_begins_no_other(tmp_path: Path) -> None:
    begun = threading.Semaphore(0)
    place = Waiting(begun)
    maker = making(tmp_path, place)

    def fail() -> str:
        assert begun.acquire(timeout=WAITS_S) and begun.acquire(timeout=WAITS_S)
        raise InputError("not to be had")

    with pytest.raises(InputError, match="not to be had"):
        maker.each([fail, *[partial(compiled, maker, lambda: None)] * 2])
    assert place.ended == 2
    with maker.turn():
        pass
