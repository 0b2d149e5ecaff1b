"""The files in tests/data/importers, read as `bootlab import` reads them."""

import io
from functools import cache
from pathlib import Path

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Source
from bootlab.importers.registry import read_recording
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Recording

DATA = Path(__file__).parent.parent / "data" / "importers"


def source_of(data: bytes, name: str = "x") -> Source:
    """Return a file with these bytes."""
    return Source(name, io.BytesIO(data))


@cache
def sample(name: str, *, format_name: str | None = None, tsc_hz: int | None = None) -> Recording:
    """Return a sample as a recording."""
    return recording_of((DATA / name).read_bytes(), name, format_name=format_name, tsc_hz=tsc_hz)


def recording_of(
    data: bytes, name: str = "x", *, format_name: str | None = None, tsc_hz: int | None = None
) -> Recording:
    """Return what `data` says as a recording."""
    return read_recording(source_of(data, name), Options(tsc_hz=tsc_hz), format_name)


def read_text(importer: Importer, text: str | bytes, options: Options | None = None) -> Recording:
    """Return what one importer makes of a text that the registry did not look at."""
    data = text.encode() if isinstance(text, str) else text
    return importer.read(source_of(data), options or Options())


def span_of(recording: Recording, name: str, about: str = "") -> Span:
    """Return the first span of this name, and with `about` the first that says so."""
    return next(one for one in recording.timeline.spans if one.name == name and about in one.about)


def phases_ms(recording: Recording) -> dict[str, float]:
    """Return the phases' lengths in ms, by name."""
    return {one.name: one.duration_ns / 1e6 for one in recording.phases}
