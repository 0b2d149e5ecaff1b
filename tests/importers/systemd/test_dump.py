"""systemd-analyze dump: whole seconds, and where the clock was set."""

from tests.importers.samples import sample
from tests.importers.systemd.printed import MS, printed_blame


def test_a_dump_is_in_whole_seconds_and_says_where_the_clock_was_set() -> None:
    one = sample("debian-13/systemd-analyze-dump.txt.xz")
    spans = {span.name: span.duration_ns // (1000 * MS) for span in one.timeline.spans}
    assert spans["ssh.service"] == 10 and spans["dev-vda.device"] == 22
    for name, took_ns in printed_blame().items():
        assert name in spans and abs(spans[name] - took_ns / 1e9) < 1.0
    assert one.timeline.clock.resolution_ns == 1_000 * MS
    assert any("clock was set" in note for note in one.notes)
    assert "257.13" in one.tool and one.facts["units"] == "174"
