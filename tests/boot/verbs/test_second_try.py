"""A second trial of the same kernel techniques builds nothing: all it costs is its boots."""

import json
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

SYSTEM = Path(__file__).parents[1] / "tiny_kernel" / "tiny.toml"
TECHNIQUES = ("kernel_printk_off", "kernel_sysfs_off")
BAR = 1.5


def test_a_second_try_builds_nothing_and_its_boots_are_what_it_costs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[dict[str, Any]] = []
    for folder in ("first", "second"):
        words = ["try", str(SYSTEM), *TECHNIQUES, "--no-stack", "--json", "--runs", str(tmp_path / folder)]
        assert run(words) == 0
        tried.append(json.loads(capsys.readouterr().out))
    first, second = tried
    cost = second["cost"]
    print(f"first {first['cost']}, second {cost}")
    assert (cost["built"], cost["build_s"]) == (0, 0)
    assert cost["boots"] == first["cost"]["boots"] >= 3 + 5
    assert cost["per_qemu"] <= BAR
    assert cost["per_qemu"] == pytest.approx(cost["elapsed_s"] / cost["qemu_s"], abs=0.05)
    kept = ("technique", "verdict", "ready_ns", "saved_ns", "sizes")
    rows = [[{key: one[key] for key in kept} for one in result["alone"]] for result in tried]
    assert rows[0] == rows[1]
    kernels = {one["sizes"]["kernel"] for one in second["alone"]} | {second["baseline"]["sizes"]["kernel"]}
    assert len(kernels) == 3, "three kernels, none of them built for the second trial"
