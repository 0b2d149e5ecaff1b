"""Whether the kernel's ticks were moved against its work, as seeds and null changes do (`clock.tick_us`)."""

from collections.abc import Iterator
from pathlib import Path

from bootlab.build.source.config_text import read_config
from bootlab.profile.recorded.trace import SKIP, PluginTrace
from bootlab.system import System, moved_ticks_ns
from bootlab.timeline import marks as m

_SECOND_US = 1_000_000


def why_unmoved(system: System, trace: PluginTrace | None) -> str:
    """Return why ticks that were to be moved were not; empty where they were, or were not to be."""
    if not moved_ticks_ns(system):
        return ""
    if trace is None or m.INITCALLS_START not in trace.marks:
        return f"the boot did not come by {m.INITCALLS_START}"
    return trace.refused.get(SKIP, "")


def tick_remarks(system: System, trace: PluginTrace | None, config: Path | None) -> Iterator[str]:
    """Yield what a reader should know of a boot's ticks. `config`: the kernel's configuration, where it was built."""
    if why := why_unmoved(system, trace):
        yield f"the kernel's ticks are not moved: {why}"
    asked_us = system.clock.tick_us
    hz = read_config(config).get("HZ", "") if asked_us is not None and config is not None else ""
    if hz.isdecimal() and int(hz) and _SECOND_US // int(hz) != asked_us:
        yield (
            f"clock.tick_us: this kernel's ticks are {_SECOND_US // int(hz)} us apart (CONFIG_HZ={hz}), and they "
            f"are moved by parts of {asked_us}"
        )
