"""`make fuzz`: damaged recordings through every importer.

Nothing but an InputError may come out of one, within a second of processor time and 200 MiB of memory, and what it does
return must be a sound recording that text and page can show.

    python -m tests.fuzz.run [--inputs N] [--seed S] [--only FORMAT] [--jobs J] [--after N]

Workers are processes with a limit of their memory. What fails is written to build/fuzz/, with a traceback.
"""

import argparse
import io
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

from rich.console import Console

from bootlab.errors import InputError
from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Source
from bootlab.importers.reading.tally import MISSING
from bootlab.importers.registry import IMPORTERS, LATEST, find_importer, read_recording
from bootlab.report.recording import text as recording_text
from bootlab.report.recording.page import recording_page
from bootlab.timeline.line_account import LineAccount
from bootlab.timeline.recording import Recording
from tests.fuzz.mutate import Mutator, Sample, members_of

ROOT: Final = Path(__file__).resolve().parents[2]
CORPUS: Final = ROOT / "tests" / "data" / "importers"
KEPT: Final = ROOT / "build" / "fuzz"
SEED: Final = 9
LONGEST_S: Final = 1.0
MOST_BYTES: Final = 200 * 1024 * 1024
_ROUND: Final = 250
_SAID_EVERY_S: Final = 5.0
# Text and page take longer than reading: of what was read, so much is shown.
_SHOWN_EVERY: Final = 40
_FREQUENCIES: Final = (None, None, 1, 1_000_000_000, 10**12)


class TooSlow(BaseException):
    """An input took longer than a second. Not an Exception, so that no importer can catch it."""


@dataclass
class Outcome:
    """What became of the inputs of one importer."""

    format: str
    inputs: int = 0
    accepted: int = 0
    recognised: int = 0
    shown: int = 0
    slowest_s: float = 0.0
    slowest: int = -1
    failures: list[str] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        """Add another's figures."""
        if other.slowest_s > self.slowest_s:
            self.slowest_s, self.slowest = other.slowest_s, other.slowest
        self.inputs += other.inputs
        self.accepted += other.accepted
        self.recognised += other.recognised
        self.shown += other.shown
        self.failures += other.failures


def corpus() -> list[Sample]:
    """Return the samples that an importer recognises."""
    samples = []
    for path in sorted(CORPUS.rglob("*")):
        # What the tests expect of a sample is no sample.
        if path.is_file() and path.name != "expected.json":
            source = Source(path.name, io.BytesIO(path.read_bytes()))
            if (importer := find_importer(source.head)) is not None:
                data = source.whole()
                samples.append(Sample(str(path.relative_to(CORPUS)), importer.name, data, members_of(data)))
    return samples


def fuzz(importer: Importer, numbers: range, mutator: Mutator, *, keep: Path | None = KEPT) -> Outcome:
    """Put inputs of these numbers through one importer."""
    outcome = Outcome(importer.name)
    for number in numbers:
        data = mutator.make(importer.name, number)
        began = time.process_time()
        try:
            with _limited(LONGEST_S):
                _read(importer, data, number, outcome)
        except (Exception, TooSlow) as error:
            outcome.failures.append(_kept(importer.name, number, data, error, keep))
        took = time.process_time() - began
        outcome.inputs += 1
        if took > outcome.slowest_s:
            outcome.slowest_s, outcome.slowest = took, number
    return outcome


def _read(importer: Importer, data: bytes, number: int, outcome: Outcome) -> None:
    try:
        source = Source("x", io.BytesIO(data))
        outcome.recognised += bool(importer.recognise(source.head))
        options = Options(tsc_hz=_FREQUENCIES[number % len(_FREQUENCIES)])
        recording = read_recording(source, options, importer.name)
    except InputError as error:
        _check_words(error.message)
        _check_words(error.hint or "")
        return
    outcome.accepted += 1
    check(recording)
    if (account := source.account()) is not None:
        check_account(account, data)
    if outcome.accepted % _SHOWN_EVERY == 1:
        signal.setitimer(signal.ITIMER_PROF, 10 * LONGEST_S)
        show(recording)
        outcome.shown += 1


def check(recording: Recording) -> None:
    """Raise AssertionError where a recording is not what the rest of bootlab relies on."""
    timeline = recording.timeline
    assert [one.start_ns for one in timeline.spans] == sorted(one.start_ns for one in timeline.spans)
    assert [one.t_ns for one in timeline.events] == sorted(one.t_ns for one in timeline.events)
    for span in (*timeline.spans, *recording.phases):
        assert -LATEST <= span.start_ns <= span.end_ns <= LATEST, span
    for stack in recording.stacks:
        assert stack.frames and stack.own_ns >= 0 and stack.calls >= 0, stack
    for length in recording.lengths:
        assert 0 <= length.took_ns <= LATEST, length
    for series in recording.series:
        assert series.values and all(abs(one) < 1e300 for one in series.values), series


def check_account(account: LineAccount, data: bytes) -> None:
    """Raise AssertionError where what became of a file's lines does not add up to the lines of its bytes."""
    assert sum(share.count for share in account.shares) == account.count, account
    assert all(share.count > 0 and share.what != MISSING for share in account.shares), account
    if account.unit == "lines":
        plain = Source("x", io.BytesIO(data)).whole()
        assert account.count == len(plain.removesuffix(b"\n").split(b"\n")) - (not plain), account


def show(recording: Recording) -> None:
    """Raise AssertionError where text or page would hand on what could harm a terminal or a browser."""
    out = io.StringIO()
    Console(file=out, width=100).print(recording_text.recording(recording, "x"))
    _check_words(out.getvalue())
    page = recording_page(recording, "x", ())
    assert "\x1b" not in page and "\0" not in page and "\u202e" not in page
    assert "<script>alert" not in page and "<img src=x" not in page


def _check_words(words: str) -> None:
    assert not any((letter < " " and letter != "\n") or letter in "\x7f\u202e" for letter in words), ascii(words[:200])


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _kept(format_name: str, number: int, data: bytes, error: BaseException, keep: Path | None) -> str:
    name = f"{format_name}-{number}"
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{name}.bin").write_bytes(data)
        (keep / f"{name}.txt").write_text("".join(traceback.format_exception(error))[-20_000:])
    return f"{name}: {type(error).__name__}: {ascii(str(error)[:160])}"


def limit_memory(most: int = MOST_BYTES) -> None:
    """Let this process take `most` bytes more than it has now; what wants more gets a MemoryError."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + most, resource.RLIM_INFINITY))


def _warm(mutator: Mutator) -> None:
    # What is imported on first use, numpy above all, is not the input's.
    for importer in IMPORTERS:
        fuzz(importer, range(-60, 0), mutator, keep=None)


def _work(worker: int, of: int, inputs: int, seed: int, only: str | None, after: int) -> None:
    # One worker's share, a round of every importer at a time, and a line of figures after each.
    mutator = Mutator(corpus(), seed)
    _warm(mutator)
    limit_memory()
    chosen = _chosen(only)
    each = -(-inputs // len(chosen))
    for first in range(after + worker * _ROUND, each, of * _ROUND):
        for importer in chosen:
            outcome = fuzz(importer, range(first, min(first + _ROUND, each)), mutator)
            peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            print(json.dumps({**asdict(outcome), "peak_kib": peak_kib, "first": first}), flush=True)


def _chosen(only: str | None) -> list[Importer]:
    return [one for one in IMPORTERS if only in (None, one.name)]


class _Run:
    """Workers, and what they have found so far."""

    def __init__(self, inputs: int, seed: int, only: str | None, jobs: int, after: int) -> None:
        self.outcomes = {one.name: Outcome(one.name) for one in _chosen(only)}
        self.peak_kib = 0
        self.began = time.monotonic()
        self._rounds: dict[int, set[str]] = {}
        """First number of a round -> the importers that have done it."""
        self._after = after
        self._said = self.began
        self._lock = threading.Lock()
        self._inputs = inputs - after * len(self.outcomes)
        argv = [sys.executable, "-m", "tests.fuzz.run", "--inputs", str(inputs), "--seed", str(seed)]
        argv += ["--after", str(after)]
        argv += ["--only", only] if only else []
        self.workers = [
            subprocess.Popen([*argv, "--worker", str(worker), str(jobs)], stdout=subprocess.PIPE, cwd=ROOT)
            for worker in range(jobs)
        ]

    def follow(self) -> None:
        """Take in what the workers say, until all have ended."""
        threads = [threading.Thread(target=self._follow, args=(worker,)) for worker in self.workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def stop(self) -> None:
        """End the workers that still run."""
        for worker in self.workers:
            worker.kill()
            worker.wait()

    def _follow(self, worker: "subprocess.Popen[bytes]") -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            document = json.loads(line)
            with self._lock:
                self.peak_kib = max(self.peak_kib, document.pop("peak_kib"))
                self._rounds.setdefault(document.pop("first"), set()).add(document["format"])
                self.outcomes[document["format"]].add(Outcome(**document))
                self._say()
        if worker.wait() > 0:
            with self._lock:
                first = next(iter(self.outcomes.values()))
                first.failures.append(f"a worker ended with {worker.returncode}")

    @property
    def done(self) -> int:
        """Up to which number every importer has had its inputs."""
        number = self._after
        while len(self._rounds.get(number, ())) == len(self.outcomes):
            number += _ROUND
        return number

    def _say(self) -> None:
        now = time.monotonic()
        if now - self._said < _SAID_EVERY_S:
            return
        self._said = now
        done = sum(one.inputs for one in self.outcomes.values())
        failures = sum(len(one.failures) for one in self.outcomes.values())
        rate = done / (now - self.began)
        print(f"  {done:,} of {self._inputs:,} inputs, {rate:.0f} a second, {failures} failures", file=sys.stderr)

    def table(self) -> str:
        """Return the figures of every importer, and the failures."""
        heads = f"{'importer':22}{'inputs':>10}{'recognised':>12}{'read':>10}{'shown':>8}{'slowest ms':>12}  failures"
        rows = [
            f"{one.format:22}{one.inputs:10,}{one.recognised:12,}{one.accepted:10,}{one.shown:8,}"
            f"{one.slowest_s * 1000:12.0f}  {len(one.failures)}"
            for one in self.outcomes.values()
        ]
        failures = [line for one in self.outcomes.values() for line in one.failures]
        whole = sum(one.inputs for one in self.outcomes.values())
        took = time.monotonic() - self.began
        end = f"{whole:,} inputs in {took:.0f} s, most memory of a worker {self.peak_kib / 1024:.0f} MiB: "
        return "\n".join([heads, *rows, *(f"  {line}" for line in failures[:50]), f"{end}{len(failures)} failures"])


def main() -> int:
    """Run, print a table, and return 1 when an input failed, 130 when interrupted, with a table of what was done."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--inputs", type=int, default=1_000_000, help="of all importers together [default: 1000000]")
    words.add_argument("--seed", type=int, default=SEED, help=f"another one makes other inputs [default: {SEED}]")
    words.add_argument("--only", choices=[one.name for one in IMPORTERS], help="one importer [default: all]")
    words.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once [default: one a core]")
    words.add_argument(
        "--after",
        type=int,
        default=0,
        metavar="N",
        help="go on after the first N inputs of every importer [default: 0]",
    )
    words.add_argument("--worker", nargs=2, type=int, help=argparse.SUPPRESS)
    asked = words.parse_args()
    if asked.worker:
        _work(*asked.worker, asked.inputs, asked.seed, asked.only, asked.after)
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run, interrupted = _Run(asked.inputs, asked.seed, asked.only, asked.jobs, asked.after), False
    try:
        run.follow()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        run.stop()
    print(run.table())
    if interrupted:
        print(f"interrupted: --seed {asked.seed} --after {run.done} goes on from here")
    failed = any(one.failures for one in run.outcomes.values())
    return 130 if interrupted else 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
