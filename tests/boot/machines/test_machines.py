"""A machine that no example has: the older PC boots a stock kernel and does what its check asks."""

from collections.abc import Callable

import pytest

from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System

pytestmark = [pytest.mark.boot, pytest.mark.network]


@pytest.mark.promise("machine pc")
def test_the_older_pc_boots_and_passes_its_check(fast_system: System, run_boot: Callable[[System], BootRecord]) -> None:
    assert fast_system.check is not None and fast_system.network is not None
    record = run_boot(fast_system.with_part("machine", type="pc"))
    assert record.outcome is Outcome.READY, record.detail
    assert "pc" in record.argv[record.argv.index("-machine") + 1].split(",")
