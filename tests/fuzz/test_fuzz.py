"""Damaged recordings through every importer, as many as a test may take; `make fuzz` runs a million."""

import contextlib
import io
import random
import subprocess
import sys

import pytest

from bootlab.errors import InputError
from bootlab.experiments.importing import Imported
from bootlab.importers.importer import Options
from bootlab.importers.merging import merge
from bootlab.importers.reading.source import Source
from bootlab.importers.registry import IMPORTERS, read_recording
from bootlab.report.recording.side_by_side import compare_sides
from bootlab.timeline.recording import Recording
from tests.fuzz.mutate import Mutator
from tests.fuzz.run import ROOT, SEED, check, corpus, fuzz, show

INPUTS = 10_000
SAMPLES = corpus()
MUTATOR = Mutator(SAMPLES, SEED)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_every_sample_is_read_and_shown(sample: object) -> None:
    assert hasattr(sample, "data") and hasattr(sample, "format")
    recording = read_recording(Source("x", io.BytesIO(sample.data)), Options())
    assert recording.format == sample.format
    check(recording)
    show(recording)


def test_every_importer_has_a_sample() -> None:
    assert {one.format for one in SAMPLES} == {one.name for one in IMPORTERS}


@pytest.mark.parametrize("name", [one.name for one in IMPORTERS])
def test_damaged_recordings(name: str) -> None:
    importer = next(one for one in IMPORTERS if one.name == name)
    outcome = fuzz(importer, range(INPUTS // len(IMPORTERS) + 1), MUTATOR, keep=None)
    assert outcome.failures == []
    # Neither all refused nor all accepted: the damage is of the kind that gets somewhere.
    assert 0.05 < outcome.accepted / outcome.inputs < 0.99


def test_inputs_repeat() -> None:
    assert MUTATOR.make("tslog", 7) == Mutator(corpus(), SEED).make("tslog", 7) != MUTATOR.make("tslog", 8)


def test_the_runner_reports_what_fails() -> None:
    # A millionth of a second ends at the kernel's next tick, which comes to one input in some hundreds.
    code = (
        "import tests.fuzz.run as run; run.LONGEST_S = 1e-6; "
        "from tests.fuzz.mutate import Mutator; m = Mutator(run.corpus(), 1); "
        "read = (run.fuzz(run.IMPORTERS[0], range(at, at + 500), m, keep=None) for at in range(0, 50_000, 500)); "
        "print(next((one.failures for one in read if one.failures), []))"
    )
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "TooSlow" in said


def test_a_run_goes_on_where_another_one_ended() -> None:
    words = ["--only", "boottrace", "--inputs", "520", "--jobs", "1", "--after", "500"]
    said = subprocess.run([sys.executable, "-m", "tests.fuzz.run", *words], cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0 and "\n20 inputs in" in said.stdout, said.stdout + said.stderr


def test_damaged_recordings_are_merged_and_compared_or_refused() -> None:
    chance = random.Random(SEED)
    found: list[tuple[str, Recording]] = []
    while len(found) < 200:
        importer = chance.choice(IMPORTERS)
        with contextlib.suppress(InputError):
            source = Source("x", io.BytesIO(MUTATOR.make(importer.name, chance.randrange(10**6))))
            found.append((importer.name, read_recording(source, Options(), importer.name)))
    merged = 0
    for _ in range(200):
        pair = chance.sample(found, 2)
        with contextlib.suppress(InputError):
            check(merge(pair).recording)
            merged += 1
        with contextlib.suppress(InputError):
            compare_sides(*(Imported(name, (), one) for name, one in pair))
    assert merged > 20
