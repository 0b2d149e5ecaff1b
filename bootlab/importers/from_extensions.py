"""Importers that live outside of the package, held to what every importer promises; a broken one is left out."""

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.extensions.broken import note_broken, why_it_fails
from bootlab.extensions.folders import FAULTS, find_modules, find_places
from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import FormatError, Head, Source
from bootlab.timeline.recording import Recording

UNWRITTEN: Final = "FILL IN"
"""What stands in a new file where words are to be written (scripts/new)."""
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{1,39}")


@cache
def load_outside(folders: tuple[Path, ...], taken: frozenset[str]) -> tuple[Importer, ...]:
    """Return the importers of all extensions, those in `folders` among them. Notes what is broken.

    `taken`: names that are bootlab's own.
    """
    found: dict[str, Importer] = {}
    for place in find_places(folders):
        for one in find_modules(place, "importers"):
            importer = getattr(one.module, "IMPORTER", None)
            complaint = complaint_about(importer, {*taken, *found})
            if complaint is not None or not isinstance(importer, Importer):
                note_broken(str(one.file), f"IMPORTER: {complaint}")
            else:
                found[importer.name] = _guarded(importer, one.file)
    return tuple(found.values())


def complaint_about(importer: object, taken: Collection[str] = ()) -> str | None:
    """Return what is wrong with what a file calls IMPORTER; None where nothing is. `taken`: names of others."""
    if not isinstance(importer, Importer):
        return f"expected an Importer, got {type(importer).__name__}"
    name, title = importer.name, importer.title
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"name: {ascii(name)[:60]} is not 2 to 40 small letters, digits and -, a letter first"
    if name in taken:
        return f"name: there is a format {name} already"
    if not isinstance(title, str) or not title.strip():
        return "title: empty, expected what it reads, in words"
    if UNWRITTEN in title:
        return "title: words to fill in"
    return next(
        (f"{what}: expected a function" for what in ("recognise", "read") if not _is_function(importer, what)), None
    )


def _is_function(importer: Importer, what: str) -> bool:
    found: Callable[..., object] | None = getattr(importer, what)
    return callable(found)


def _guarded(importer: Importer, file: Path) -> Importer:
    def recognise(head: Head) -> str:
        try:
            told = importer.recognise(head)
        except FAULTS as error:
            note_broken(str(file), f"recognise fails: {why_it_fails(error, file)}")
            return ""
        if not isinstance(told, str):
            note_broken(str(file), f"recognise: returned {type(told).__name__}, expected a line or an empty text")
            return ""
        return told

    def read(source: Source, options: Options) -> Recording:
        try:
            recording = importer.read(source, options)
        except InputError:
            raise
        except FAULTS as error:
            raise FormatError(f"{source.name}: its importer {file} fails: {why_it_fails(error, file)}") from error
        if not isinstance(recording, Recording):
            raise FormatError(
                f"{source.name}: its importer {file} returned {type(recording).__name__}, expected a Recording"
            )
        return recording

    return replace(importer, recognise=recognise, read=read)
