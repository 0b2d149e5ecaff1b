"""Suspend and resume in ftrace's events, as pm-graph records them -> what each device's callback and each step took.

    suspend_resume: dpm_suspend[2] begin                                       ... dpm_suspend[2] end
    device_pm_callback_start: i8042 i8042, parent: platform, bus [suspend]   device_pm_callback_end: i8042 i8042, err=0

By include/trace/events/power.h.
"""

import re
from typing import Final

from bootlab.importers.reading.longest_spans import Bare
from bootlab.timeline.recording import MOST_SPANS

_STEP = re.compile(r"(?P<name>[\w-]{1,60}\[-?\d{1,6}\]) (?P<edge>begin|end)\s*")
_BEGINS = re.compile(r"(?P<device>\S.{0,160}?), parent: \S{1,160}, (?P<callback>.{0,80})")
_ENDS = re.compile(r"(?P<device>\S.{0,160}?), err=(?P<error>-?\d{1,6})\s*")
EVENTS: Final = ("suspend_resume", "device_pm_callback_start", "device_pm_callback_end")


class SuspendEvents:
    """Takes these events one by one."""

    def __init__(self) -> None:
        self._steps: dict[str, list[int]] = {}
        self._callbacks: dict[tuple[str, str], list[tuple[int, str]]] = {}
        self.entered_ns: int | None = None
        """When the first suspend began."""
        self.resumed_ns: int | None = None
        """When the last step of it ended."""

    def take(self, event: str, arguments: str, pid: str, t_ns: int) -> Bare | None:
        """Take one event; return what it is the end of, if anything."""
        if event == "suspend_resume":
            return self._step(arguments, t_ns)
        if event == "device_pm_callback_start":
            found = _BEGINS.fullmatch(arguments)
            if found is not None and len(self._callbacks) < MOST_SPANS:
                begun = (t_ns, found["callback"].strip())
                self._callbacks.setdefault((found["device"], pid), []).append(begun)
            return None
        ends = _ENDS.fullmatch(arguments)
        waiting = self._callbacks.get((ends["device"], pid)) if ends is not None else None
        if ends is None or not waiting:
            return None
        start_ns, callback = waiting.pop()
        about = "; ".join(filter(None, [callback, f"error {ends['error']}" if ends["error"] != "0" else ""]))
        return (start_ns, t_ns, "device callback", ends["device"], "", about)

    def _step(self, arguments: str, t_ns: int) -> Bare | None:
        found = _STEP.fullmatch(arguments)
        if found is None:
            return None
        if found["edge"] == "begin":
            if self.entered_ns is None:
                self.entered_ns = t_ns
            if len(self._steps) < MOST_SPANS:
                self._steps.setdefault(found["name"], []).append(t_ns)
            return None
        self.resumed_ns = t_ns
        waiting = self._steps.get(found["name"])
        return (waiting.pop(), t_ns, "suspend step", found["name"], "", "") if waiting else None
