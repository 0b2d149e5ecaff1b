"""What measuring costs: user CPU of a virtual boot with marks against the same QEMU command without the plugin."""

import asyncio
import os
from pathlib import Path
from statistics import median

import pytest

from bootlab.build.cache import Cache
from bootlab.measure.prepare import Prepared, prepare
from bootlab.system import read_system
from bootlab.targets.qemu import QemuSession, socket_folder
from bootlab.targets.qemu_argv import PluginFiles, Wiring, qemu_argv
from bootlab.targets.target import ConsoleBytes

pytestmark = pytest.mark.bench

EXAMPLES = Path(__file__).parents[2] / "examples"
PAIRS = 10
MOST = 1.10


async def cpu_up_to_ready(prepared: Prepared, plugin: PluginFiles | None, folder: Path) -> float:
    """Return user seconds that QEMU took up to the line that says ready."""
    console = b""
    with socket_folder() as sockets:
        wiring = Wiring(sockets / "qmp", plugin=plugin)
        argv = qemu_argv(prepared.system, prepared.files, wiring)
        async with QemuSession(argv, wiring.qmp_socket, stderr=folder / "stderr") as session:
            await session.power_on()
            async for event in session.events():
                if isinstance(event, ConsoleBytes):
                    console += event.data
                if b"bootlab: mark ready" in console:
                    # utime, the 14th field of /proc/PID/stat; the name before it may hold blanks.
                    fields = Path(f"/proc/{session.pid}/stat").read_text().rpartition(")")[2].split()
                    return int(fields[11]) / os.sysconf("SC_CLK_TCK")
    raise AssertionError(console[-500:])


def test_a_boot_with_marks_costs_at_most_a_tenth_more(tmp_path: Path) -> None:
    prepared = prepare(read_system(EXAMPLES / "debian-cloud.toml"), Cache.default())
    assert prepared.plugin is not None and prepared.plugin_config is not None
    (tmp_path / "plugin.conf").write_text(prepared.plugin_config)
    plugin = PluginFiles(prepared.plugin, tmp_path / "plugin.conf", tmp_path / "trace.txt")
    ratios = []
    for number in range(PAIRS):
        # Every other pair the other way round, so that a machine that warms up or slows down favours neither.
        order = [plugin, None] if number % 2 else [None, plugin]
        seconds = {one: asyncio.run(cpu_up_to_ready(prepared, one, tmp_path)) for one in order}
        ratios.append(seconds[plugin] / seconds[None])
        print(f"pair {number + 1}: {seconds[plugin]:.2f} s with, {seconds[None]:.2f} s without, {ratios[-1]:.3f}")
    print(f"median of {PAIRS} pairs: {median(ratios):.3f} x the user CPU, from {min(ratios):.3f} to {max(ratios):.3f}")
    assert median(ratios) <= MOST
