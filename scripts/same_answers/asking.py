"""Asks a revision: puts its files where every revision is put, runs bootlab there and keeps what it answers.

All revisions are asked from the same folder one after the other, so that paths, and the bytes of what is compiled,
are the same when the source is. What a revision has answered is kept under the hash of all files that can decide an
answer, and is not asked again: neither after Ctrl-C nor for another comparison.

    BOOTLAB_CACHE/same-answers/
      tree/                          the revision that is being asked, removed afterwards
      samples/, reading/             what it imports; copies of runs that it reads
      kept/HASH/answers/NAME.json    kept/HASH/runs/NAME/...    kept/HASH/read-HASH/NAME.json
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import IO, Final

from scripts.same_answers.answers import Answer
from scripts.same_answers.questions import PATIENT, SYSTEMS, Question, patient

ROOT: Final = Path(__file__).resolve().parents[2]
SAMPLES: Final = ROOT / "tests" / "data" / "importers"
_LONGEST_S: Final = 4 * 3600
_AT_ONCE: Final = 2
_UNDECIDING: Final = re.compile(r"tests|scripts|\.ci|\.gitignore|Makefile|LICENSES?|[A-Z]+\.md")
"""Names at the top of the tree that cannot change an answer. docs/ can: it holds the measured figures."""


class CannotAsk(Exception):
    """A revision that is not there, does not build or gave no answer; says which, and what it said."""


@dataclass(frozen=True, slots=True)
class Revision:
    """Files of one state of the project."""

    name: str
    """As it was given."""
    repository: Path
    tree: str
    """The hash of git's tree object that holds the files."""
    key: str
    """A hash of those that can decide an answer."""


def find_revision(name: str, repository: Path = ROOT) -> Revision:
    """Return the git revision `name`, or the files as they lie in the checkout `name`. Raises CannotAsk."""
    folder = Path(name)
    if folder.is_dir() and (folder / ".git").exists():
        repository = folder.resolve()
        tree = _tree_of_files(repository)
    else:
        tree = _git(repository, "rev-parse", "--verify", "--quiet", f"{name}^{{tree}}")
    listed = _git(repository, "ls-tree", tree).splitlines()
    deciding = [line for line in listed if not _UNDECIDING.fullmatch(line.partition("\t")[2])]
    return Revision(name, repository, tree, hashlib.sha256("\n".join(deciding).encode()).hexdigest()[:12])


class Desk:
    """The folder where revisions are asked, and where their answers are kept."""

    def __init__(self, cache: Path, *, keep: bool = False) -> None:
        self.cache = cache
        self.root = cache / "same-answers"
        self.keep = keep
        """Leave the files of the revision that was asked last."""
        self._started: set[subprocess.Popen[str]] = set()
        self._lock = Lock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other call of the script out, and clean up afterwards. Raises CannotAsk when one is at work."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise CannotAsk(f"{self.root}: another same-answers is at work") from error
            try:
                self._refresh(self.root / "samples", SAMPLES)
                yield
            finally:
                for child in list(self._started):
                    child.terminate()
                    child.wait()
                shutil.rmtree(self.root / "reading", ignore_errors=True)
                if not self.keep:
                    shutil.rmtree(self.root / "tree", ignore_errors=True)

    def runs_of(self, revision: Revision) -> Path:
        """Return the folder of the runs that a revision left."""
        return self.root / "kept" / revision.key / "runs"

    def answers(
        self, revision: Revision, questions: list[Question], recorded: Revision | None = None
    ) -> Iterator[tuple[Question, Answer | CannotAsk]]:
        """Ask what is not on record, and yield every answer. With `recorded`, the runs of that one are read.

        A call that failed, where failing is no answer, is not kept: it is yielded as an error, and asked again later.
        """
        kept = self.root / "kept" / revision.key / (f"read-{recorded.key}" if recorded else "answers")
        kept.mkdir(parents=True, exist_ok=True)
        runs = self.runs_of(recorded or revision)
        missing: set[str] = set()
        for one in questions:
            # What reads a run that is recorded anew is asked anew, too.
            if missing.intersection(one.runs) or self._on_record(kept, one, runs) is None:
                missing.add(one.name)
        if missing:
            self._check_out(revision)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            try:
                asked: dict[str, Future[None]] = {}
                for one in questions:
                    if one.name in missing and not one.boots and not missing.intersection(one.runs):
                        asked[one.name] = pool.submit(self._ask, kept, one, runs, recorded is not None)
                for one in questions:
                    try:
                        if one.name in asked:
                            asked[one.name].result()
                        elif one.name in missing:
                            self._ask(kept, one, runs, recorded is not None)
                    except CannotAsk as error:
                        yield one, error
                        continue
                    answer = self._on_record(kept, one, runs)
                    assert answer is not None
                    yield one, answer
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for child in list(self._started):
                    child.terminate()
                raise

    def _on_record(self, kept: Path, question: Question, runs: Path) -> Answer | None:
        try:
            document = json.loads(_file(kept, question).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        answer = Answer(**document["answer"])
        asked_so = answer.form == question.form and document["asked"] == self._fingerprint(question, runs)
        return answer if asked_so else None

    def _fingerprint(self, question: Question, runs: Path) -> str:
        """Return a hash of all that is asked: words, and the files and runs that they name."""
        parts = [word.encode() for word in question.words]
        if any("same-answers" in word for word in question.words):
            parts += [SYSTEMS[name].encode() for name in sorted(SYSTEMS)]
        for word in question.words:
            if word.startswith("{samples}/"):
                parts.append((self.root / word.format(samples="samples")).read_bytes())
        for name in question.runs:
            parts += [path.read_bytes() for path in sorted((runs / _plain(name)).glob("*/run.json"))]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def _ask(self, kept: Path, question: Question, runs: Path, reading: bool) -> None:
        """Run one call of bootlab and keep its answer. Raises CannotAsk."""
        own = self.root / "reading" / _plain(question.name) if reading else runs / _plain(question.name)
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        places = {}
        for name in question.runs:
            found = sorted((runs / _plain(name)).glob("[0-9]*-*"))
            if not found:
                # As a file that no importer knows: there is nothing to read on either side.
                self._keep(kept, question, runs, Answer(1, "", f"{name} left no run", question.form))
                return
            places[name] = found[0]
            if reading:
                # A verb may write into the run that it reads; and a run can be moved.
                places[name] = own / _plain(name) / found[0].name
                shutil.copytree(found[0], places[name])
        words = [_filled(word, self.root, places) for word in question.words]
        command = [sys.executable, "-m", "bootlab", *words, *(["--json"] if question.form == "json" else [])]
        code, out, err = self._run(command, {"BOOTLAB_RUNS": str(own)})
        if reading:
            shutil.rmtree(own)
        self._keep(kept, question, runs, Answer(code, out, err, question.form))

    def _keep(self, kept: Path, question: Question, runs: Path, answer: Answer) -> None:
        """Put an answer on record. Raises CannotAsk for a failure that is none."""
        if answer.code and not question.may_fail:
            raise CannotAsk(f"exit code {answer.code}: {' / '.join(answer.err.strip().splitlines()[-5:])}")
        with _replacing(_file(kept, question)) as file:
            json.dump({"asked": self._fingerprint(question, runs), "answer": asdict(answer)}, file)

    def _run(self, command: list[str], more: dict[str, str]) -> tuple[int, str, str]:
        tree = self.root / "tree"
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("BOOTLAB_", "PYTHON"))}
        environment |= {"PYTHONPATH": str(tree), "BOOTLAB_CACHE": str(self.cache), "COLUMNS": "120", "TERM": "dumb"}
        environment |= {"LC_ALL": "C.UTF-8", **more}
        child = subprocess.Popen(
            command, cwd=tree, env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        with self._lock:
            self._started.add(child)
        try:
            out, err = child.communicate(timeout=_LONGEST_S)
        except subprocess.TimeoutExpired as error:
            raise CannotAsk(f"no answer after {_LONGEST_S} s: {' '.join(command)}") from error
        finally:
            child.terminate()
            child.wait()
            with self._lock:
                self._started.discard(child)
        return child.returncode, out, err

    def _check_out(self, revision: Revision) -> None:
        tree = self.root / "tree"
        stamp = tree / ".asked"
        if stamp.is_file() and stamp.read_text() == revision.tree:
            return
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir()
        archive = ["git", "-C", str(revision.repository), "archive", revision.tree]
        with subprocess.Popen(archive, stdout=subprocess.PIPE) as packed:
            subprocess.run(["tar", "--extract", "--directory", str(tree)], stdin=packed.stdout, check=True)
        for name, text in SYSTEMS.items():
            path = tree / "examples" / name
            path.write_text(text)
            path.chmod(0o755)
        debian = (tree / "examples" / "debian-cloud.toml").read_text()
        (tree / "examples" / PATIENT).write_text(patient(debian))
        code, out, err = self._run(["make", "--silent", "--directory=plugin", f"OUT={tree}/build/plugin"], {})
        if code:
            raise CannotAsk(f"{revision.name}: the plugin does not build: {out}{err}")
        # An editable install of another checkout must not answer instead.
        code, out, err = self._run([sys.executable, "-c", "import bootlab; print(bootlab.__file__)"], {})
        if code or not Path(out.strip()).is_relative_to(tree):
            raise CannotAsk(f"{revision.name}: Python finds another bootlab: {out}{err}")
        stamp.write_text(revision.tree)

    @staticmethod
    def _refresh(target: Path, source: Path) -> None:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)


def _tree_of_files(checkout: Path) -> str:
    """Return git's tree of the files as they lie there, committed or not, without those that git ignores."""
    with tempfile.TemporaryDirectory() as scratch:
        index = {**os.environ, "GIT_INDEX_FILE": str(Path(scratch) / "index")}
        _git(checkout, "read-tree", "HEAD", environment=index)
        _git(checkout, "add", "--all", "--", ".", environment=index)
        return _git(checkout, "write-tree", environment=index)


def _git(repository: Path, *words: str, environment: dict[str, str] | None = None) -> str:
    command = ["git", "-C", str(repository), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotAsk(f"{' '.join(command)}: {done.stderr.strip() or 'there is no such revision'}")
    return done.stdout.strip()


def _filled(word: str, root: Path, runs: dict[str, Path]) -> str:
    word = re.sub(r"\{run:([^}]+)\}", lambda match: str(runs[match[1]]), word)
    return word.replace("{tree}", str(root / "tree")).replace("{samples}", str(root / "samples"))


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)


def _file(kept: Path, question: Question) -> Path:
    return kept / f"{_plain(question.name)}.json"


@contextmanager
def _replacing(path: Path) -> Iterator[IO[str]]:
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        yield file
    part.replace(path)
