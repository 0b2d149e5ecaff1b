"""FreeBSD's rows of time stamps as recordings, and the time that each stack took itself."""

from bootlab.timeline.recording import Recording
from tests.importers.samples import DATA, recording_of

WAITS = (DATA / "tslog" / "waits.tslog").read_bytes()


def rows(text: str) -> Recording:
    return recording_of(text.encode(), tsc_hz=1_000_000_000)


def own_ns(recording: Recording) -> dict[str, int]:
    return {";".join(one.frames): one.own_ns for one in recording.stacks}
