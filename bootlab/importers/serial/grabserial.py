"""grabserial logs -> Recording: console lines with the host's stamps, and the kernel's initcalls placed on that clock.

grabserial stamps with time.time(), so a step of the host's clock is in its figures, and stamps the first byte of a
line.
"""

from dataclasses import replace
from typing import Final

from bootlab.errors import InputError
from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import FormatError, Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.importers.reading.text_in_place import in_place
from bootlab.importers.serial.console_lines import GrabbedConsole, looks_grabbed, parse_grabserial
from bootlab.importers.serial.console_recording import console_recording
from bootlab.timeline.line_account import Fate
from bootlab.timeline.recording import MOST_SPANS, Recording


def recognise(head: Head) -> str:
    """Return the first line with grabserial's stamps, where most lines have them."""
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
    _count(console, source.tally)
    recording = replace(
        recording,
        text=in_place([*((None, row) for row in console.before), *((line.t_ns, "") for line in console.lines)]),
        facts={**recording.facts, **({"grabserial": "; ".join(console.matches)[:4096]} if console.matches else {})},
    )
    if not console.resets:
        return recording
    anew = (
        f"grabserial started its clock anew {len(console.resets)} times (option -m); how long the line before took to "
        "arrive is lost there, and later times are early by that much."
    )
    return replace(recording, notes=(anew, *recording.notes))


def _count(console: GrabbedConsole, tally: Tally) -> None:
    lines, kept = console.lines, min(len(console.lines), MOST_SPANS)
    tally.add(Fate.USED, "console lines", kept, first=lines[0].text)
    tally.add(Fate.LEFT_OUT, f"more than {MOST_SPANS} of their kind", len(lines) - kept)
    tally.add(Fate.TEXT, "lines before the first stamp", len(console.before), first="".join(console.before[:1]))
    matches = console.matches
    tally.add(Fate.USED, "what grabserial's own patterns matched", len(matches), first="".join(matches[:1]))
    tally.add(Fate.ASIDE, "empty lines", console.empty)


IMPORTER: Final = Importer("grabserial", "serial console with the host's stamps (grabserial -t)", recognise, read)
