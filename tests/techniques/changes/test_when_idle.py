"""The lines that wait for an idle machine, run by a shell whose /proc/stat is a file that each look changes."""

from pathlib import Path

import pytest

from bootlab.process import run
from bootlab.techniques.changes.when_idle import WHEN_IDLE

QUIET, BUSY, WAITING = (1, 0, 0, 49, 0), (30, 0, 10, 10, 0), (0, 0, 0, 20, 30)


@pytest.mark.parametrize(
    ("stretches", "looks"),
    [([QUIET], 1), ([BUSY, BUSY, QUIET], 3), ([WAITING, QUIET], 2), ([(0,) * 5, QUIET], 2), ([BUSY] * 4 + [QUIET], 5)],
)
def test_it_goes_on_until_five_seconds_were_quiet(tmp_path: Path, stretches: list[tuple[int, ...]], looks: int) -> None:
    """A disk that is waited for is no idle one, and of a clock that stood still nothing is known."""
    lines = [[0] * 5]
    for stretch in stretches:
        lines.append([was + more for was, more in zip(lines[-1], stretch, strict=True)])
    for number, line in enumerate(lines):
        (tmp_path / f"stat.{number}").write_text(f"cpu  {' '.join(map(str, line))} 0 0 0 0 0\n")
    sleeps = "at=0\nsleep() {\n\tat=$((at + $1 / 5))\n}\n"
    text = WHEN_IDLE.replace("/proc/stat", f'"{tmp_path}/stat.$at"')
    assert run(["sh", "-c", f"{sleeps}{text}idle && echo $at"]).text == f"{looks}\n"


def test_a_machine_that_is_never_idle_ends_the_waiting(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  1 0 0 0 0 0 0 0 0 0\n")
    text = WHEN_IDLE.replace("/proc/stat", str(stat))
    assert run(["sh", "-c", f"sleep() {{\n:\n}}\n{text}idle || echo busy"]).text == "busy\n"
