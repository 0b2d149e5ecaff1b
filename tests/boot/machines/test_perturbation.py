"""The guest cannot tell that it is watched: its console, time stamps included, is the same without the plugin."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.system import System
from bootlab.targets.qemu.wiring import PluginFiles
from bootlab.targets.target import Prepared

pytestmark = [pytest.mark.boot, pytest.mark.network]

UpToReady = Callable[[Prepared, PluginFiles | None], tuple[bytes, float]]


@pytest.mark.parametrize("vcpus", [pytest.param(1, marks=pytest.mark.promise("unnoticed")), 2])
def test_console_is_the_same_with_and_without_the_plugin(
    vcpus: int, up_to_ready: UpToReady, fast_system: System, shop: Workshop, tmp_path: Path
) -> None:
    prepared = prepare(shop, fast_system.with_part("machine", vcpus=vcpus), watch=("panic", "kernel_init", "schedule"))
    assert prepared.plugin is not None and prepared.plugin_config is not None
    config = tmp_path / "plugin.conf"
    config.write_text(prepared.plugin_config)
    plugin = PluginFiles(prepared.plugin, config, tmp_path / "trace.txt")
    watched = up_to_ready(prepared, plugin)[0]
    alone = up_to_ready(prepared, None)[0]
    assert len(alone) > 5000
    assert watched == alone
    assert "mark watch:schedule" in (tmp_path / "trace.txt").read_text()


def test_console_records_cover_every_byte(fast_system: System, shop: Workshop, tmp_path: Path) -> None:
    """Each byte of the console is stamped on the virtual clock, in the order it came."""
    from bootlab.measure.boot import boot
    from bootlab.profile.recorded.trace import read_trace

    record = boot(prepare(shop, fast_system), tmp_path)
    trace = read_trace(tmp_path / "trace.txt")
    sent = sum(size for _, size in trace.console)
    assert sent == len((tmp_path / "console.log").read_bytes())
    times = [stamp.t_ns for stamp, _ in trace.console]
    assert times == sorted(times)
    assert record.marks["ready"] < times[-1]
