"""What measuring costs: user CPU of a virtual boot with marks against the same QEMU command without the plugin."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.system import read_system
from bootlab.targets.qemu.target import QemuPrepared
from bootlab.targets.qemu.wiring import PluginFiles
from tests.bench.paired_cost import UpToReady, median_ratio

pytestmark = pytest.mark.bench

EXAMPLES = Path(__file__).parents[2] / "examples"
PAIRS = 10
MOST = 1.10


@pytest.mark.parametrize(("pauses", "most"), [("own", MOST), ("quick", 1.0)])
def test_a_boot_with_marks_costs_at_most_a_tenth_more_and_less_than_what_it_spares_at_pauses(
    up_to_ready: UpToReady, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: str, most: float
) -> None:
    monkeypatch.delenv("BOOTLAB_QEMU_PAUSE", raising=False)
    if pauses == "own":
        monkeypatch.setenv("BOOTLAB_QEMU_PAUSE", pauses)
    print(f"\nPAUSE: {'as QEMU itself has it' if pauses == 'own' else 'the vCPU goes on at once'}")
    prepared = prepare(Workshop(Cache.default()), read_system(EXAMPLES / "debian-cloud.toml"))
    assert isinstance(prepared, QemuPrepared) and prepared.plugin is not None and prepared.plugin_config is not None
    (tmp_path / "plugin.conf").write_text(prepared.plugin_config)
    plugin = PluginFiles(prepared.plugin, tmp_path / "plugin.conf", tmp_path / "trace.txt")
    assert median_ratio(up_to_ready, prepared, plugin, PAIRS) <= most
