"""What measuring costs: user CPU of a virtual boot with marks against the same QEMU command without the plugin."""

from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.system import read_system
from bootlab.targets.qemu.argv import PluginFiles
from bootlab.targets.target import Prepared

pytestmark = pytest.mark.bench

EXAMPLES = Path(__file__).parents[2] / "examples"
UpToReady = Callable[[Prepared, PluginFiles | None], tuple[bytes, float]]
PAIRS = 10
MOST = 1.10


def test_a_boot_with_marks_costs_at_most_a_tenth_more(up_to_ready: UpToReady, tmp_path: Path) -> None:
    prepared = prepare(Workshop(Cache.default()), read_system(EXAMPLES / "debian-cloud.toml"))
    assert prepared.plugin is not None and prepared.plugin_config is not None
    (tmp_path / "plugin.conf").write_text(prepared.plugin_config)
    plugin = PluginFiles(prepared.plugin, tmp_path / "plugin.conf", tmp_path / "trace.txt")
    ratios = []
    for number in range(PAIRS):
        # Every other pair the other way round, so that a machine that warms up or slows down favours neither.
        order = [plugin, None] if number % 2 else [None, plugin]
        seconds = {one: up_to_ready(prepared, one)[1] for one in order}
        ratios.append(seconds[plugin] / seconds[None])
        print(f"pair {number + 1}: {seconds[plugin]:.2f} s with, {seconds[None]:.2f} s without, {ratios[-1]:.3f}")
    print(f"median of {PAIRS} pairs: {median(ratios):.3f} x the user CPU, from {min(ratios):.3f} to {max(ratios):.3f}")
    assert median(ratios) <= MOST
