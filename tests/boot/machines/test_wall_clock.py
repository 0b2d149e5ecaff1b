"""The wall clock without KVM: a series and what is refused. With KVM: test_kvm_nested.py."""

import json
import platform
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.cli.app import run
from bootlab.errors import MissingTool
from bootlab.measure.prepare import prepare
from bootlab.system import System, read_system

pytestmark = [pytest.mark.boot, pytest.mark.network]

EXAMPLES = Path(__file__).parents[3] / "examples"
# Ready at the kernel's first line: a fraction of a second, even emulated.
BANNER = """
[machine]
type = "q35"
[clock]
kind = "wall"
accelerator = "tcg"
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
cmdline = "console=ttyS0 earlyprintk=ttyS0{word}"
[booted]
console = "Linux version"
"""


@pytest.mark.promise("wall clock")
def test_a_series_has_a_warm_up_and_every_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = tmp_path / "banner.toml"
    system.write_text(BANNER.format(word=""))
    assert run(["measure", str(system), "-n", "3", "--json", "--runs", str(tmp_path / "runs")]) == 0
    series = json.loads(capsys.readouterr().out)
    assert series["clock"] == "wall"
    assert {boot["accelerator"] for boot in series["boots"]} == {"tcg"}
    times = [boot["marks"]["ready"] for boot in series["boots"]]
    assert series["ready"] == {
        "n": 3, "min_ns": min(times), "median_ns": sorted(times)[1], "max_ns": max(times),
    }  # fmt: skip
    assert len(list((tmp_path / "runs").glob("*/boots/*/record.json"))) == 4, "the warm-up is kept and not counted"


def test_a_comparison_takes_turns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [tmp_path / "a.toml", tmp_path / "b.toml"]
    for side, word in zip(sides, ("", " bootlab.null=1"), strict=True):
        side.write_text(BANNER.format(word=word))
    assert run(["compare", *map(str, sides), "-n", "5", "--json", "--runs", str(tmp_path / "runs")]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert compared["verdict"] in ("faster", "slower", "no difference shown")
    directories = [Path(path) for path in compared["before_runs"] + compared["after_runs"]]
    in_order = sorted(directories, key=lambda path: (path / "record.json").stat().st_mtime_ns)
    assert [path.name[0] for path in in_order] == ["a", "b"] * 5


def test_kvm_is_for_the_hosts_own_architecture(shop: Workshop) -> None:
    foreign = "debian-cloud" if platform.machine() == "aarch64" else "debian-arm64"
    system = read_system(EXAMPLES / f"{foreign}.toml")
    asked = System.model_validate({**dict(system), "clock": {"kind": "wall", "accelerator": "kvm"}})
    with pytest.raises(MissingTool, match=f"this host is {platform.machine()}"):
        prepare(shop, asked)
    assert prepare(shop, asked.with_part("clock", accelerator="auto")).accelerator.value == "tcg"
