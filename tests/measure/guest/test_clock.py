"""Where the guest's clock lies on the boot's, from lines written down here: 40 of them, 10 ms apart."""

import pytest

from bootlab.measure.guest.clock import HOST, VIRTUAL, place_guest_clock
from bootlab.timeline.clock import Clock

MS = 1_000_000


def lines(offsets_ms: list[int]) -> list[tuple[int, str]]:
    """Return lines stamped every 10 ms by the guest, each sent so much later by the boot's clock."""
    stamps = [10 * (number + 1) for number in range(len(offsets_ms))]
    return [
        ((stamp + offset) * MS, f"[    {stamp // 1000}.{stamp % 1000:03}000] line")
        for stamp, offset in zip(stamps, offsets_ms, strict=True)
    ]


@pytest.mark.parametrize("clock", [VIRTUAL, HOST])
def test_a_constant_distance_is_found(clock: Clock) -> None:
    found = place_guest_clock([*lines([250] * 40), (999 * MS, "a line without a stamp")], clock)
    assert found is not None and found.target == clock
    assert abs(found.translate(100 * MS) - 350 * MS) <= found.uncertainty_ns < MS


def test_on_the_virtual_clock_only_what_comes_after_a_jump_counts() -> None:
    # printk's clock jumped ahead by 30 ms: of what was written before, nothing tells where it lies now.
    found = place_guest_clock(lines([250] * 40 + [220] * 40), VIRTUAL)
    assert found is not None
    assert abs(found.offset_ns - 220 * MS) <= found.uncertainty_ns
    assert found.since_ns >= 410 * MS and not found.covers(400 * MS)


def test_a_jump_with_too_few_lines_behind_it_leaves_nothing() -> None:
    assert place_guest_clock(lines([250] * 40 + [220] * 5), VIRTUAL) is None


def test_a_quiet_kernel_has_no_clock() -> None:
    assert place_guest_clock(lines([250] * 5), HOST) is None
    assert place_guest_clock([(number * MS, "no stamp") for number in range(100)], HOST) is None
    assert place_guest_clock([], VIRTUAL) is None
