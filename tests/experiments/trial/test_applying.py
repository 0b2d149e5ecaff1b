"""What a board cannot become: nothing is built or booted for a technique that would not reach it."""

from pathlib import Path

import pytest

from bootlab.experiments.trial.applying import machine_lacks
from bootlab.system import read_system

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(("example", "part"), [("camera-board", "card"), ("riscv-board", "flash")])
def test_what_lies_in_a_finished_image_cannot_change(example: str, part: str) -> None:
    composed = read_system(EXAMPLES / f"{example}.toml")
    assert machine_lacks(composed, composed.with_cmdline("quiet")) is None
    finished = composed.with_part(part, path=Path("finished.img"))
    for changed in (
        finished.with_cmdline("quiet"),
        finished.with_options(SMP="n"),
        finished.with_part("initramfs", compression="lz4"),
    ):
        assert f"{part}.path" in (machine_lacks(finished, changed) or "")
    assert machine_lacks(finished, finished) is None
    assert machine_lacks(finished, finished.with_seed(2)) is None
