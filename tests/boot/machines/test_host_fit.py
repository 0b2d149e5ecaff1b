"""The timing guest on the virtual clock, where its own count of instructions can be held to QEMU's."""

import statistics

import pytest

from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed
from bootlab.measure.host_fit.fit import INSTRUCTIONS
from bootlab.measure.host_fit.guest import Backing, hear_guest
from bootlab.measure.host_fit.samples import read_timed
from bootlab.price.classes import CLASSES

pytestmark = [pytest.mark.boot]

EXACT = ("-icount", "shift=0,sleep=off")
A_NS_A_TICK = "clock 2147483648 1 0"


def test_it_counts_its_instructions_as_qemu_does_and_times_every_class(shop: Workshop) -> None:
    """A tick is an instruction there, so each loop must take 1 ns for each that it says it has."""
    said = hear_guest(shop.cache, Backing.SMALL, "tcg", EXACT)
    with pytest.raises(BootFailed, match="finds no clock of KVM's"):
        read_timed(said)
    timed = read_timed(said.replace("clock 0 0 0", A_NS_A_TICK))
    for name in INSTRUCTIONS:
        assert statistics.median(timed.ns[name]) == pytest.approx(1.0, abs=0.02), name
    # Its own overhead is in what it times: some instructions for each.
    assert {*timed.ns} & {*CLASSES} == {*CLASSES} - {"hlt", "hypercall"} and timed.lacking == ("hypercall",)
    assert all(statistics.median(timed.ns[name]) < 20 for name in CLASSES if name in timed.ns)
    # Asleep until its timer, and no longer.
    assert timed.sleep_ns <= statistics.median(timed.ns["sleep"]) < timed.sleep_ns + 100
    assert statistics.median(timed.ns["pages"]) < 10 and statistics.median(timed.ns["rest_of_chunk"]) < 10
