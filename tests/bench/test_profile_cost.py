"""What a full profile costs: user CPU of a profiled boot against the same QEMU command without the plugin."""

from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.recorded.about import PROFILE
from bootlab.system import read_system
from bootlab.targets.qemu.argv import PluginFiles
from bootlab.targets.qemu.profile_setup import write_profile_config
from bootlab.targets.target import Prepared

pytestmark = pytest.mark.bench

EXAMPLES = Path(__file__).parents[2] / "examples"
UpToReady = Callable[[Prepared, PluginFiles | None], tuple[bytes, float]]
PAIRS = 5
MOST = 1.5


@pytest.mark.parametrize("example", ["debian-cloud", "debian-13-cloud", "debian-arm64"])
def test_a_profiled_boot_costs_at_most_half_more(example: str, up_to_ready: UpToReady, tmp_path: Path) -> None:
    prepared = prepare(Workshop(Cache.default()), read_system(EXAMPLES / f"{example}.toml"), profile=ProfileRequest())
    assert prepared.plugin is not None and prepared.plugin_config is not None and prepared.profile is not None
    config = prepared.plugin_config + write_profile_config(prepared.profile, tmp_path)
    (tmp_path / "plugin.conf").write_text(config)
    plugin = PluginFiles(prepared.plugin, tmp_path / "plugin.conf", tmp_path / "trace.txt", tmp_path / PROFILE)
    ratios = []
    for number in range(PAIRS):
        # Every other pair the other way round, so that a machine that warms up or slows down favours neither.
        order = [plugin, None] if number % 2 else [None, plugin]
        seconds = {one: up_to_ready(prepared, one)[1] for one in order}
        ratios.append(seconds[plugin] / seconds[None])
        print(f"pair {number + 1}: {seconds[plugin]:.2f} s with, {seconds[None]:.2f} s without, {ratios[-1]:.3f}")
    print(f"median of {PAIRS} pairs: {median(ratios):.3f} x the user CPU, from {min(ratios):.3f} to {max(ratios):.3f}")
    assert median(ratios) <= MOST
