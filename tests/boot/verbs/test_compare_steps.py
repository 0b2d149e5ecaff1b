"""`bootlab compare A B C` on real boots of a tiny kernel: every step has its verdict, and the steps add up."""

import json
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

HERE = Path(__file__).parents[1] / "tiny_kernel"


def test_three_systems_are_compared_step_by_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = ["--runs", str(tmp_path / "runs")]

    def document(*words: str) -> dict[str, Any]:
        assert run([*words, "--json", *runs]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    text = (HERE / "tiny.toml").read_text().replace('"tiny.config"', f'"{HERE}/tiny.config"')
    text = text.replace('"init"', f'"{HERE}/init"')
    loud, quiet = tmp_path / "loud.toml", tmp_path / "quiet.toml"
    loud.write_text(text)
    quiet.write_text(text.replace("console=ttyS0", "console=ttyS0 quiet"))
    steps = document("compare", str(loud), str(quiet), str(loud), "-n", "3")
    assert steps["schema"] == "bootlab.compare-steps/1"
    there, back = steps["steps"]
    assert (there["verdict"], back["verdict"]) == ("shorter", "longer")
    assert there["saved_ns"] == -back["saved_ns"] > 0
    assert (steps["whole"]["saved_ns"], steps["whole"]["verdict"]) == (0, "no difference shown")
    assert there["differences"] == ["kernel command line, only after: quiet"]
    first = Path(there["before_runs"][0]).parent
    labels = sorted(path.name for path in first.iterdir())
    assert [label for label in labels if "null" in label] == [
        f"{side}-null{number}-s{(number - 1) % 3 + 1}" for side in "ab" for number in (1, 2, 3, 4, 5)
    ]
    # The third is the first again: only what confirms the step to it is booted for it.
    assert [label for label in labels if label.startswith("c-")] == ["c-fresh1-s4", "c-fresh2-s5"]
    assert len(labels) == 2 * 3 + 2 * 5 + 2
    assert document("report", "1") == steps
    # Two of them, with the same seeds: the verdict is that of the step, whatever else confirms it.
    pair = document("compare", str(loud), str(quiet), "-n", "3")
    where = {"before_runs", "after_runs", "null_runs", "fresh_before_runs", "fresh_after_runs"}
    assert {key: pair[key] for key in pair.keys() - where} == {key: there[key] for key in there.keys() - where}
    page = (first.parent / "report.html").read_text()
    assert there["detail"] in page and back["detail"] in page
