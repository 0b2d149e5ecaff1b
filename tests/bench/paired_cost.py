"""What a plugin costs QEMU: pairs of boots with it and without, in user CPU up to ready."""

from collections.abc import Callable
from statistics import median

from bootlab.targets.qemu.wiring import PluginFiles
from bootlab.targets.target import Prepared

UpToReady = Callable[[Prepared, PluginFiles | None], tuple[bytes, float]]


def median_ratio(up_to_ready: UpToReady, prepared: Prepared, plugin: PluginFiles, pairs: int) -> float:
    """Return the median ratio of CPU time with the plugin to that without, of so many pairs, each of which is told."""
    ratios = []
    for number in range(pairs):
        # Every other pair the other way round, so that a machine that warms up or slows down favours neither.
        order = [plugin, None] if number % 2 else [None, plugin]
        seconds = {one: up_to_ready(prepared, one)[1] for one in order}
        ratios.append(seconds[plugin] / seconds[None])
        print(f"pair {number + 1}: {seconds[plugin]:.2f} s with, {seconds[None]:.2f} s without, {ratios[-1]:.3f}")
    print(f"median of {pairs} pairs: {median(ratios):.3f} x the user CPU, from {min(ratios):.3f} to {max(ratios):.3f}")
    return median(ratios)
