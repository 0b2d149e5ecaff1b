"""The lines that wait for an idle machine, run by a shell whose /proc/stat is a file that each look changes."""

from pathlib import Path

import pytest

from bootlab.process import run
from bootlab.techniques.changes.when_idle import WHEN_IDLE

QUIET, BUSY, WAITING = (1, 0, 0, 49, 0), (30, 0, 10, 10, 0), (0, 0, 0, 20, 30)


@pytest.mark.parametrize(
    ("halves", "in_a_row", "looks"),
    [
        ([QUIET], 1, 1),
        ([BUSY, BUSY, QUIET], 1, 3),
        ([WAITING, QUIET], 1, 2),
        ([(0,) * 5, QUIET], 1, 2),
        ([QUIET, BUSY, QUIET, QUIET, QUIET], 3, 5),
    ],
)
def test_it_goes_on_until_half_a_second_was_quiet(
    tmp_path: Path, halves: list[tuple[int, ...]], in_a_row: int, looks: int
) -> None:
    """A disk that is waited for is no idle one, and of a clock that stood still nothing is known."""
    lines = [[0] * 5]
    for half in halves:
        lines.append([was + more for was, more in zip(lines[-1], half, strict=True)])
    for number, line in enumerate(lines):
        (tmp_path / f"stat.{number}").write_text(f"cpu  {' '.join(map(str, line))} 0 0 0 0 0\n")
    sleeps = "at=0\nsleep() {\n\tat=$((at + 1))\n}\n"
    text = WHEN_IDLE.replace("/proc/stat", f'"{tmp_path}/stat.$at"').replace("seq 120", "seq 5")
    assert run(["sh", "-c", f"{sleeps}{text}idle {in_a_row} && echo $at"]).text == f"{looks}\n"


def test_a_machine_that_is_never_idle_ends_the_waiting(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  1 0 0 0 0 0 0 0 0 0\n")
    text = WHEN_IDLE.replace("/proc/stat", str(stat)).replace("seq 120", "seq 3")
    assert run(["sh", "-c", f"sleep() {{\n:\n}}\n{text}idle 1 || echo busy"]).text == "busy\n"
