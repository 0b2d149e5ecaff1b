"""Host facts: there, JSON-ready, and silent about the machine's name."""

import json
import platform
import socket

from bootlab.measure.host.facts import read_host_facts


def test_facts_are_json_and_complete() -> None:
    facts = read_host_facts()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["kernel"] == platform.release()
    assert facts["cores"] >= 1 and facts["memory_mib"] > 16 and facts["load_1_min"] >= 0
    assert set(facts) >= {"cpu_model", "governor", "distribution", "machine"}
    assert not any(value == socket.gethostname() for value in facts.values())
