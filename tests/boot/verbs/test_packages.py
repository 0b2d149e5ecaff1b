"""What packages cost the boot of an installed Debian root, and that boots without two of them save what was said."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

SYSTEM = Path(__file__).parents[1] / "roots/package_costs/packages.toml"


def _bootlab(*words: str | Path, code: int = 0) -> str:
    argv = [sys.executable, "-m", "bootlab", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == code, done.stdout[-2000:] + done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The packages of the system, proved by leaving out the first two."""
    runs = tmp_path_factory.mktemp("runs")
    found: dict[str, Any] = json.loads(_bootlab("packages", SYSTEM, "--prove", "2", "--json", "--runs", runs))
    return found


@pytest.mark.promise("bootlab packages")
def test_each_package_has_its_cost_and_boots_without_the_first_save_it(proved: dict[str, Any]) -> None:
    costs, proof = proved["costs"], proved["proof"]
    assert sum(row["cost_ns"] for row in costs["rows"]) == costs["total_ns"]
    rows = {row["name"]: row for row in costs["rows"]}
    assert {row["name"] for row in costs["rows"] if row["gone_ns"] is not None} == {"bc", "jq"}
    assert rows["bc"]["programs"] == ["/usr/bin/bc"] and rows["jq"]["programs"] == ["/usr/bin/jq"]
    assert rows["libc6"]["kept"].endswith("needs it (essential)")
    assert rows["jq"]["files_read"] >= 1 and rows["libonig5"]["kept"] == "nothing of it ran by itself"
    # The init is a file of nobody's, and so is what says that it is ready.
    assert {row["name"] for row in costs["rows"] if row["kind"] == "files of no package"} >= {"init"}

    assert set(proof["removed"]) == {"bc", "jq"} and {"libjq1", "libonig5"} <= set(proof["along"])
    assert proof["verdict"] == "shorter" and proof["came"] == []
    assert proof["predicted_ns"] == sum(rows[name]["gone_ns"] for name in ("bc", "jq"))
    assert abs(proof["comparison"]["saved_ns"] - proof["predicted_ns"]) < 0.2 * proof["predicted_ns"]


def test_a_run_on_record_is_costed_again_and_what_is_kept_is_refused(proved: dict[str, Any], tmp_path: Path) -> None:
    again = json.loads(_bootlab("packages", proved["run"], "--json", "--runs", tmp_path))
    assert again["costs"] == proved["costs"] and again["proof"] is None
    words = ["packages", proved["run"], "--remove", "dash", "--runs", str(tmp_path)]
    assert "--remove dash: is kept: essential" in _bootlab(*words, code=2)
    assert json.loads(_bootlab("report", proved["run"], "--json")) == proved
