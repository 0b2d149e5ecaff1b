"""A boot to observe without a machine: the replayed system, with what a test says of ready, check, clock and console.

seen = observed(tmp_path, booted={"console": "login:"}, check=None, clock="wall")
seen.heard.feed(b"login: ", 5)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bootlab.measure.guest.heard_console import HeardConsole, OnLine
from bootlab.measure.observed_boot import ObservedBoot
from bootlab.system import System
from bootlab.targets.target import TRACE, ConsoleTraits
from tests.replayed import prepared, replayed

BY_MARK = {"mark": "ready", "deadline_s": 120}
BY_LINE = {"console": "bootlab: check ok"}


def observed(
    folder: Path,
    *,
    booted: dict[str, Any] | None = None,
    check: dict[str, Any] | None = BY_LINE,
    clock: str = "virtual",
    disks: Sequence[dict[str, Any]] = (),
    timings: Mapping[str, dict[str, str]] = MappingProxyType({}),
    traits: ConsoleTraits | None = None,
    on_line: OnLine | None = None,
    screen: dict[str, Any] | None = None,
) -> ObservedBoot:
    """Return a boot that nothing is known of yet. Its trace, if it is to have one, is `write_trace`'s."""
    system = replayed(folder / "system", clock=clock)
    if screen is not None:
        system = system.with_part("machine", type="q35", devices=("VGA",))
    values = {**dict(system), "booted": booted or BY_MARK, "check": check, "disks": disks}
    values["timings"] = dict(timings)
    values["screen"] = screen
    ready = prepared(System.model_validate(values))
    ready = replace(ready, console=traits or ConsoleTraits())
    directory = folder / "boot"
    directory.mkdir()
    return ObservedBoot(ready, directory, HeardConsole(ready, on_line), patience=0.5)


def write_trace(seen: ObservedBoot, *records: str) -> None:
    """Leave a trace as the plugin does, on the virtual clock with 1 ns an instruction."""
    lines = ["bootlab-trace 1", "clock virtual 0", *records]
    (seen.directory / TRACE).write_text("".join(f"{line}\n" for line in lines))
