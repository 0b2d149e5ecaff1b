"""What exact disks cost the host: waiting in the doorbell against the same boot without the plugin, and depth one.

User CPU and not the wall's time, which other work on the host would move. The guest is that of
tests/boot/disks/disk_work: it mounts its disk, reads and writes it at random, and flushes.
"""

from pathlib import Path
from statistics import median

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.targets.qemu import argv
from bootlab.targets.qemu.exact_devices import device_options
from bootlab.targets.qemu.target import QemuPrepared
from bootlab.targets.qemu.wiring import PluginFiles
from tests.bench.paired_cost import UpToReady, median_ratio
from tests.boot.disks.disk_boots import write_disk_work

pytestmark = pytest.mark.bench

PAIRS = 10
MOST = 1.10
_MANY = "disable-legacy=on,ioeventfd=off"


@pytest.fixture
def prepared(tmp_path: Path) -> QemuPrepared:
    """The disk's guest on q35, entered without a decompressor; for a check the plugin does not stop it at ready."""
    (tmp_path / "system").mkdir()
    changes = {
        'suite = "bookworm"': 'suite = "bookworm"\nentry = "pvh"',
        "[booted]": '[check]\nmark = "never"\n\n[booted]',
    }
    prepared = prepare(Workshop(Cache.default()), write_disk_work(tmp_path / "system", changes))
    assert isinstance(prepared, QemuPrepared)
    return prepared


def test_a_disk_that_answers_at_once_costs_at_most_a_tenth_more(
    prepared: QemuPrepared, up_to_ready: UpToReady, tmp_path: Path
) -> None:
    assert prepared.plugin is not None and prepared.plugin_config is not None
    (tmp_path / "plugin.conf").write_text(prepared.plugin_config)
    plugin = PluginFiles(prepared.plugin, tmp_path / "plugin.conf", tmp_path / "trace.txt")
    assert median_ratio(up_to_ready, prepared, plugin, PAIRS) <= MOST


def test_one_request_at_a_time_costs_the_host_little(
    prepared: QemuPrepared, up_to_ready: UpToReady, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against QEMU's own depth, both without the plugin: what the guest's smaller requests take."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for number in range(PAIRS):
        for is_one in (True, False) if number % 2 else (False, True):
            with monkeypatch.context() as patch:
                if not is_one:
                    patch.setattr(argv, "device_options", lambda driver: _MANY)
                seconds[is_one].append(up_to_ready(prepared, None)[1])
    assert device_options("virtio-blk-pci") != _MANY
    ratios = [one / many for one, many in zip(seconds[True], seconds[False], strict=True)]
    print(f"one request at a time: {median(seconds[True]):.2f} s, many: {median(seconds[False]):.2f} s of user CPU")
    print(f"median of {PAIRS} pairs: {median(ratios):.3f} x, from {min(ratios):.3f} to {max(ratios):.3f}")
    assert median(ratios) <= 2
