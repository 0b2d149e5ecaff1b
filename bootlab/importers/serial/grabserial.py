"""grabserial logs -> Recording: console lines with the host's stamps, and the kernel's initcalls placed on that clock.

grabserial stamps with time.time(), so a step of the host's clock is in its figures, and stamps the first byte of a
line.
"""

from dataclasses import replace
from typing import Final

from bootlab.errors import InputError
from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import FormatError, Head, Source
from bootlab.importers.serial.console_lines import looks_grabbed, parse_grabserial
from bootlab.importers.serial.console_recording import console_recording
from bootlab.timeline.recording import Recording


def recognise(head: Head) -> bool:
    """Return whether the lines begin with grabserial's stamps."""
    return looks_grabbed(head.rows)


def read(source: Source, options: Options) -> Recording:
    """Return what a grabserial log says. Raises FormatError when no line has its stamp."""
    try:
        console = parse_grabserial(source.text())
    except InputError as error:
        raise FormatError(f"{source.name}: {error.message}", hint=error.hint) from error
    recording = console_recording(
        console.lines,
        format_name=IMPORTER.name,
        tool="grabserial",
        about_clock="the host's stamps of the first byte of each line; zero is the first line",
    )
    if not console.resets:
        return recording
    anew = (
        f"grabserial started its clock anew {len(console.resets)} times (option -m); how long the line before took to "
        "arrive is lost there, and later times are early by that much."
    )
    return replace(recording, notes=(anew, *recording.notes))


IMPORTER: Final = Importer("grabserial", "serial console with the host's stamps (grabserial -t)", recognise, read)
