"""How a file is read: by which importer, by what told that, what of it became what; or which formats it is nearest to.

A format is near that knows some of the file's lines, or whose own lines are like the file's in words and in shape.
"""

import io
import re
from dataclasses import dataclass
from typing import Final

from bootlab.errors import InputError
from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Source
from bootlab.importers.registry import all_importers, find_importer, read_recording, require_importer
from bootlab.timeline.line_account import Fate, LineAccount
from bootlab.timeline.recording import Recording

NEAREST: Final = 3
_LOOKED_AT: Final = 20
_LONGEST_ROW: Final = 200
_EXAMPLE = re.compile(r"`([^`]{4,300})`|\"([^\"]{4,300})\"")
_WORD = re.compile(r"[A-Za-z_]{3,}")
_TOKEN = re.compile(r"[A-Za-z_]+|\d+")


@dataclass(frozen=True, slots=True)
class NearFormat:
    """A format that a file is not, and why not. `lines`: how many of its first lines that format knows."""

    name: str
    lines: int
    why_not: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one file is read. `format` is empty for a file of no format, and `nearest` for one that is read."""

    name: str
    format: str
    told: str
    """The line, or what of the bytes, by which the format was recognised; empty where the user named it."""
    also: tuple[str, ...]
    """Formats that would recognise it, too, and stand behind."""
    made: tuple[tuple[str, int], ...]
    """What came of it: kind and number."""
    account: LineAccount | None
    error: str
    """Why it could not be read, although it was recognised."""
    nearest: tuple[NearFormat, ...]


def explain(source: Source, options: Options, format_name: str | None = None) -> Explanation:
    """Return how a file is read, or why it is not. Raises InputError for a format that there is not."""
    told = [(one, said) for one in all_importers(options.extensions) if (said := one.recognise(source.head))]
    folders = options.extensions
    importer = (
        require_importer(format_name, folders) if format_name is not None else find_importer(source.head, folders)
    )
    if importer is None:
        return Explanation(source.name, "", "", (), (), None, "", nearest_formats(source, options))
    said = next((said for one, said in told if one is importer), "")
    if source.quoted:
        said = f"{said} (behind the marks of a mail that quotes it)".lstrip()
    also = tuple(one.name for one, _ in told if one is not importer)
    try:
        recording = read_recording(source, options, format_name)
    except InputError as error:
        return Explanation(source.name, importer.name, said, also, (), None, error.message,
                           nearest_formats(source, options, but=importer))  # fmt: skip
    return Explanation(source.name, importer.name, said, also, _made(recording), source.account(), "", ())


def nearest_formats(source: Source, options: Options, but: Importer | None = None) -> tuple[NearFormat, ...]:
    """Return the formats that the beginning of a file is nearest to, and why each of them it is not."""
    rows = [row[:_LONGEST_ROW] for row in source.head.rows[:_LOOKED_AT] if row.strip()]
    found = []
    for one in all_importers(options.extensions):
        if one is but:
            continue
        attempt = Source(source.name, io.BytesIO(source.head.data))
        try:
            one.read(attempt, options)
            why = f"it has lines of it, and not enough to be taken for one: --format {one.name} reads it all the same"
        except InputError as error:
            why = error.message.removeprefix(source.name).lstrip(":0123456789 ")
        account = attempt.tally.account(attempt.tally.counted())
        known = account.total(Fate.USED)
        likeness = max((_likeness(row, example) for example in _examples(why) for row in rows), default=0.0)
        found.append((known, likeness, NearFormat(one.name, known, why)))
    found.sort(key=lambda entry: (-entry[0], -entry[1]))
    return tuple(near for _, _, near in found[:NEAREST])


def _made(recording: Recording) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {"phases": len(recording.phases)}
    for span in recording.timeline.spans:
        counts[f"{span.source} (with a place)"] = counts.get(f"{span.source} (with a place)", 0) + 1
    for length in recording.lengths:
        counts[f"{length.source} (a length alone)"] = counts.get(f"{length.source} (a length alone)", 0) + 1
    counts |= {"events": len(recording.timeline.events), "lines without a time": len(recording.text)}
    counts |= {"stacks": len(recording.stacks), "series": len(recording.series)}
    return tuple((kind, count) for kind, count in counts.items() if count)


def _examples(why: str) -> list[str]:
    return [one or other for one, other in _EXAMPLE.findall(why)]


def _shape(text: str) -> str:
    # A line with each word and each number as one letter: what is left is how its format looks.
    return _TOKEN.sub(lambda found: "9" if found[0][0].isdigit() else "a", text.strip()[:_LONGEST_ROW])


def _likeness(row: str, example: str) -> float:
    words, theirs = (set(_WORD.findall(text)) for text in (row, example))
    return _shared(_pieces(row), _pieces(example)) + 2 * _shared(words, theirs)


def _pieces(text: str) -> set[str]:
    shape = _shape(text)
    return {shape[at : at + 3] for at in range(max(len(shape) - 2, 1))}


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(len(one | other), 1)
