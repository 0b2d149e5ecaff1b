"""Boots one system with many seeds and meaningless words, and keeps what they took: noise as it really is.

`python -m tests.bench.real_boots FILE --words 42 --seeds 8` boots examples/debian-cloud.toml 336 times and writes FILE,
word by word; started again it goes on. tests/bench/test_verdict_rates.py draws trials from it.
"""

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.store import RunKind, Store
from bootlab.measure.prepare import prepare
from bootlab.system import NULL_WORD, read_system

EXAMPLE = Path(__file__).parents[2] / "examples" / "debian-cloud.toml"
WORDS_FROM, SEEDS_FROM = 501, 1001
"""No example, test or trial uses these: what is drawn from here was never looked at."""


@dataclass(frozen=True, slots=True)
class RealBoots:
    """What boots took that differ by seed and by one meaningless word, `ready_ns[word][seed]`."""

    system: str
    command: str
    hashes: dict[str, str]
    """sha256 of what they booted from."""
    cpu: str
    ns_per_instruction: int | None
    ready_ns: list[list[int]]


def read_real_boots(path: Path) -> RealBoots:
    """Return what a file of this form holds."""
    return RealBoots(**json.loads(path.read_text(encoding="utf-8")))


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--words", type=int, default=42)
    parser.add_argument("--seeds", type=int, default=8)
    asked = parser.parse_args()
    shop = Workshop(Cache.default())
    # What comes after ready is not needed here, and its deadline is one of the host's clock.
    system = read_system(EXAMPLE).model_copy(update={"check": None})
    seeds = range(SEEDS_FROM, SEEDS_FROM + asked.seeds)
    words = range(WORDS_FROM, WORDS_FROM + asked.words)
    command = f"python -m tests.bench.real_boots FILE --words {asked.words} --seeds {asked.seeds}"
    kept = read_real_boots(asked.file) if asked.file.exists() else None
    taken = [] if kept is None or kept.command != command else kept.ready_ns
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(Store(Path(folder)).start(RunKind.MEASURE, system.name, {}))
        for word in words[len(taken) :]:
            prepared = prepare(shop, system.with_cmdline(f"{NULL_WORD}={word}"))
            records = engine.boot_all([Job(f"w{word}-s{seed}", prepared.with_seed(seed)) for seed in seeds])
            failed = [f"{one.run}: {one.outcome}: {one.detail}" for one in records if one.ready_ns is None]
            assert not failed, failed
            record = records[0]
            if taken and kept is not None:
                assert record.hashes == kept.hashes, "the file is of other inputs: remove it"
            taken.append([one.ready_ns for one in records if one.ready_ns is not None])
            name = str(EXAMPLE.relative_to(EXAMPLE.parents[1]))
            kept = RealBoots(name, command, record.hashes, record.cpu, record.ns_per_instruction, taken)
            asked.file.write_text(json.dumps(asdict(kept)) + "\n", encoding="utf-8")
            print(f"{len(taken) * len(seeds)} of {len(words) * len(seeds)} boots", flush=True)


if __name__ == "__main__":
    _main()
