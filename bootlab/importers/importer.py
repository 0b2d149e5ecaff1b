"""Importer: what a file of this folder offers the registry. One format, how it is recognised, how it is read."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.recording import Recording


@dataclass(frozen=True, slots=True)
class Options:
    """What a user says that the file does not."""

    tsc_hz: int | None = None
    """How fast the time stamp counter ran."""
    extensions: tuple[Path, ...] = ()
    """Folders with importers that are not bootlab's own."""


@dataclass(frozen=True, slots=True)
class Importer:
    """One format. `recognise` must not raise; `read` raises FormatError for what is not of this format."""

    name: str
    """The name that --format takes; also Recording.format."""
    title: str
    """What it reads, in words, with the commands that write it."""
    recognise: Callable[[Head], str]
    """Returns what told that a file is of this format, a line or what its bytes are; empty for any other file."""
    read: Callable[[Source, Options], Recording]
