"""What a full profile costs: user CPU of a profiled boot against the same QEMU command without the plugin."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.recorded.about import PROFILE
from bootlab.system import read_system
from bootlab.targets.qemu.profile_setup import write_profile_config
from bootlab.targets.qemu.target import QemuPrepared
from bootlab.targets.qemu.wiring import PluginFiles
from tests.bench.paired_cost import UpToReady, median_ratio

pytestmark = pytest.mark.bench

EXAMPLES = Path(__file__).parents[2] / "examples"
PAIRS = 5
MOST = 1.5


@pytest.mark.parametrize("example", ["debian-cloud", "debian-13-cloud", "debian-arm64"])
def test_a_profiled_boot_costs_at_most_half_more(example: str, up_to_ready: UpToReady, tmp_path: Path) -> None:
    prepared = prepare(Workshop(Cache.default()), read_system(EXAMPLES / f"{example}.toml"), profile=ProfileRequest())
    assert (
        isinstance(prepared, QemuPrepared)
        and prepared.plugin is not None
        and prepared.plugin_config is not None
        and prepared.profile is not None
    )
    config = prepared.plugin_config + write_profile_config(prepared.profile, tmp_path)
    (tmp_path / "plugin.conf").write_text(config)
    plugin = PluginFiles(prepared.plugin, tmp_path / "plugin.conf", tmp_path / "trace.txt", tmp_path / PROFILE)
    assert median_ratio(up_to_ready, prepared, plugin, PAIRS) <= MOST
