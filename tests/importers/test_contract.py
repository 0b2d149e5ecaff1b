"""What every importer promises: words, a sample that it alone reads, an account of each line, an error for damage.

BOOTLAB_TEST_EXTENSIONS names folders of extensions: an importer there has its sample beside it, as NAME.sample.
"""

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.extensions.broken import noted
from bootlab.extensions.folders import find_places
from bootlab.importers.from_extensions import complaint_about
from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head
from bootlab.importers.registry import IMPORTERS, all_importers, find_importer, read_recording
from tests.fuzz.run import check, check_account, corpus, show
from tests.importers.samples import source_of
from tests.techniques.asking import EXTENSIONS

SAMPLES = corpus()
DAMAGED = 200
LONGEST = 4096


@dataclass(frozen=True)
class Example:
    """A file of one format. `foreign`: of an extension."""

    name: str
    format: str
    data: bytes


def examples() -> list[Example]:
    """Return one sample of each of bootlab's own importers, the smallest, and every sample of an extension."""
    own = sorted(SAMPLES, key=lambda one: len(one.data))
    first = {one.format: Example(one.name, one.format, one.data) for one in reversed(own)}
    files = [
        path for place in find_places(EXTENSIONS) for path in sorted((place.folder / "importers").rglob("*.sample"))
    ]
    outside = [Example(str(path), _format_of(path), path.read_bytes()) for path in files]
    return [*first.values(), *outside]


def _format_of(sample: Path) -> str:
    found = find_importer(Head(sample.name, sample.read_bytes()), EXTENSIONS)
    return "" if found is None else found.name


EXAMPLES = examples()
every = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: Path(example.name).name)


def test_no_file_of_an_extension_is_broken() -> None:
    assert not [f"{one.where}: {one.why}" for one in noted()]


@pytest.mark.parametrize("importer", all_importers(EXTENSIONS), ids=lambda importer: importer.name)
def test_its_words_are_written_and_it_has_a_sample(importer: Importer) -> None:
    others = [one.name for one in all_importers(EXTENSIONS) if one is not importer]
    assert complaint_about(importer, others) is None
    assert importer.name in {example.format for example in EXAMPLES}, "no sample is recognised as this format"


@every
def test_its_sample_is_read_and_shown_and_every_line_is_accounted_for(example: Example) -> None:
    assert example.format, f"{example.name}: no importer recognises it"
    source = source_of(example.data)
    recording = read_recording(source, Options(extensions=EXTENSIONS))
    assert recording.format == example.format, f"{example.name}: recognised as {recording.format}"
    assert "FILL IN" not in recording.about_clock
    check(recording)
    show(recording)
    if (account := source.account()) is not None:
        check_account(account, example.data)
    elif example.format not in {one.name for one in IMPORTERS}:
        raise AssertionError(f"{example.name}: its importer tells the source's tally nothing")


@every
def test_damage_is_an_error_in_words(example: Example) -> None:
    chance = random.Random(1)
    for _ in range(DAMAGED):
        data = bytearray(example.data[:LONGEST])
        for _ in range(chance.randint(1, 8)):
            at = chance.randrange(len(data))
            data[at : at + chance.randint(0, 30)] = chance.randbytes(chance.randint(0, 10))
        source = source_of(bytes(data))
        try:
            recording = read_recording(source, Options(extensions=EXTENSIONS), example.format)
        except InputError as error:
            assert "its importer" not in error.message, error.message
        else:
            check(recording)


def test_no_importer_of_an_extension_takes_a_file_of_another_format() -> None:
    found = [(one, find_importer(source_of(one.data).head, EXTENSIONS)) for one in SAMPLES]
    taken = [
        f"{one.name}: {one.format}, and {importer.name} recognises it: ask for what only its own files have"
        for one, importer in found
        if importer is not None and importer.name != one.format
    ]
    assert not taken, "\n".join(taken)


def test_nothing_is_taken_for_what_it_is_not() -> None:
    for data in (b"", b"\n" * 100, b"\x7fELF" + bytes(200), b"hello\nworld\n", bytes(range(256)) * 20):
        found = find_importer(Head("x", data), EXTENSIONS)
        assert found is None, found
    assert not noted()
