"""What a recording may hold to harm a terminal, a page or the memory, put into a sample of every format."""

import io
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from bootlab.errors import InputError
from bootlab.importers.registry import IMPORTERS
from bootlab.report.recording import text as recording_text
from bootlab.report.recording.page import recording_page
from bootlab.timeline.recording import Recording
from tests.fuzz.run import corpus
from tests.importers.samples import recording_of

SAMPLES = {one.name: one for one in corpus()}
TEXTS = [name for name, one in SAMPLES.items() if b"\0" not in one.data[:512] and not one.data.startswith(b"\x1f\x8b")]
HARM = "\x1b]0;owned\x07\x1b[2J<script>alert(1)</script>\u202e&quot;"
ROOT = Path(__file__).resolve().parents[2]


def shown(recording: Recording) -> tuple[str, str]:
    out = io.StringIO()
    Console(file=out, width=100).print(recording_text.recording(recording, "x"))
    return out.getvalue(), recording_page(recording, "x", ())


def refused_or_shown(data: bytes, format_name: str) -> None:
    try:
        recording = recording_of(data, format_name=format_name)
    except InputError as error:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", error.message)
        return
    text, page = shown(recording)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
    assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page


@pytest.mark.parametrize("name", TEXTS)
def test_names_with_escapes_and_markup(name: str) -> None:
    # Every fifth word of letters becomes one that would set the terminal's title, clear it, and run in a page.
    count = 0

    def harmed(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return found[0] if count % 5 else f"{found[0][:1]}{HARM}"

    rows = SAMPLES[name].data.decode(errors="replace").split("\n")[:300]
    text = "\n".join(re.sub(r"[A-Za-z_]{4,}", harmed, row) for row in rows)
    refused_or_shown(text.encode(), SAMPLES[name].format)
    refused_or_shown("\n".join(row + HARM for row in rows).encode(), SAMPLES[name].format)


@pytest.mark.parametrize("name", [one.name for one in IMPORTERS])
def test_rows_that_never_end(name: str) -> None:
    sample = next(one for one in SAMPLES.values() if one.format == name)
    for filler in (b"x", b" ", b"9", b"[", b"1,", b'{"a":', b"0x1 1 ENTER ", b"\xe2\x80\xae"):
        began = time.process_time()
        refused_or_shown(sample.data[:2_000] + filler * (600_000 // len(filler)), name)
        assert time.process_time() - began < 2, filler


def test_large_files_of_every_format_stay_within_200_mib(tmp_path: Path) -> None:
    # In a process of its own, which may not have more than that beside its code.
    for name, sample in {one.format: one for one in SAMPLES.values()}.items():
        body = sample.data if sample.data.endswith(b"\n") else sample.data + b"\n"
        (tmp_path / name).write_bytes(body * max(1, 4_000_000 // len(body)))
    code = (
        "import pathlib, sys\n"
        "from tests.fuzz.run import limit_memory\n"
        "from bootlab.errors import InputError\n"
        "from bootlab.importers.importer import Options\n"
        "from bootlab.importers.registry import read_recording\n"
        "from bootlab.importers.reading.source import open_source\n"
        "limit_memory()\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n"
        "    try:\n"
        "        with open_source(str(path)) as source:\n"
        "            read_recording(source, Options(), path.name)\n"
        "    except InputError as error:\n"
        "        print('refused:', error.message)\n"
        "    except MemoryError:\n"
        "        sys.exit(path.name + ' wants more than 200 MiB')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2_000:]
