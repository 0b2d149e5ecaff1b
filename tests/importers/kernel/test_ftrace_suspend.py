"""pm-graph's traces: what each step and each device's callback of a suspend took."""

import re

from bootlab.importers.kernel.ftrace_suspend import SuspendEvents
from tests.importers.samples import DATA, phases_ms, sample

ROWS = (DATA / "traces" / "pm-graph.txt").read_text().splitlines()


def test_steps_and_callbacks_by_their_two_events() -> None:
    begun: dict[str, float] = {}
    expected = {}
    for row in ROWS:
        found = re.search(
            r" (\d+\.\d{6}): (?:suspend_resume: (\S+) (begin|end)|device_pm_callback_(start|end): ([^,]+),)", row
        )
        if found is None:
            continue
        name, edge = found[2] or found[5], found[3] or found[4]
        if edge in ("begin", "start"):
            begun[name] = float(found[1])
        else:
            expected[name] = round((float(found[1]) - begun[name]) * 1e6)
    one = sample("traces/pm-graph.txt")
    spans = {span.name: span for span in one.timeline.spans if span.source in ("suspend step", "device callback")}
    assert {name: span.duration_ns // 1000 for name, span in spans.items()} == expected and len(expected) == 4
    assert spans["sd 0:0:0:0"].about == "bus [suspend]; error -16"
    assert phases_ms(one) == {"suspend and resume": 1000.0}


def test_an_end_without_a_beginning_is_none() -> None:
    events = SuspendEvents()
    assert events.take("suspend_resume", "dpm_suspend[2] end", "1", 5) is None
    assert events.take("device_pm_callback_end", "sd 0, err=0", "1", 5) is None
    assert events.take("device_pm_callback_start", "damaged", "1", 5) is None
