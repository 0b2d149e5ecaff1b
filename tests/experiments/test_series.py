"""Boots of one seed are identical when nothing that was measured differs, and nothing that was on the screen."""

import pytest

from bootlab.experiments.series import are_identical
from bootlab.measure.record import BootRecord, PictureRecord, ScreenRecord
from tests.experiments.trial.test_judging import LOUD, record


def seen(frames: str, pixels: str) -> BootRecord:
    """Return a boot with a mark of the screen: a hash of the frames up to it, and its picture."""
    picture = PictureRecord(mark="desktop", t_ns=9, width=1, height=1, pixels_sha256=pixels, file="screen/1.png")
    screen = ScreenRecord(looks=3, frames=2, after={}, frames_up_to={"desktop": frames}, pictures=[picture])
    return record(1000, LOUD).model_copy(update={"screen": screen})


def test_a_nanosecond_is_a_difference() -> None:
    assert are_identical([record(1000, LOUD), record(1000, LOUD)])
    assert not are_identical([record(1000, LOUD), record(1001, LOUD)])


@pytest.mark.parametrize("other", [seen("a", "q"), seen("b", "p"), record(1000, LOUD)])
def test_so_is_a_frame_a_picture_and_a_screen_that_nobody_looked_at(other: BootRecord) -> None:
    assert are_identical([seen("a", "p"), seen("a", "p")])
    assert not are_identical([seen("a", "p"), other])
