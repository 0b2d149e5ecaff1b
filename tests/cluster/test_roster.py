"""What is told of workers: who takes far longer than the others, how the boots were spread, and who differs."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from distributed import Client

from bootlab.cluster.order import WorkerFacts
from bootlab.cluster.roster import ALONE, SUMMARY, Roster, differs
from bootlab.cluster.worker import hash_sources
from bootlab.errors import BootFailed

FAST, SLOW = "tls://192.0.2.1:1", "tls://192.0.2.2:1"


def roster(told: list[str]) -> Roster:
    """Return the roster of a client whose cluster is gone: it knows what it is told of boots, and asks nobody."""
    client = SimpleNamespace(scheduler=SimpleNamespace(address="tls://192.0.2.9:8786"), status="closed")
    return Roster(cast(Client, client), told.append)


def count(looked: Roster, run: Path, **took_s: tuple[str, float]) -> None:
    for worker, seconds in took_s.values():
        looked.count_boot(worker, run, seconds)


def test_a_worker_that_takes_twice_as_long_is_named_once(tmp_path: Path) -> None:
    told: list[str] = []
    looked = roster(told)
    for index in range(20):
        count(looked, tmp_path, fast=(FAST, 3.0 + index / 100), slow=(SLOW, 7.0))
    assert told == [f"slow: worker {SLOW}: 7.0 s a boot, the others 3.0 s"]
    looked.tell_at_end(0)
    assert told[-1] == "40 boots on 2 workers, 20 to 20 each"
    workers = json.loads((tmp_path / SUMMARY).read_text())["workers"]
    assert {one["address"]: one["median_s"] for one in workers} == {FAST: 3.095, SLOW: 7.0}


def test_what_is_short_or_hardly_longer_is_not_worth_a_word(tmp_path: Path) -> None:
    for slow_s, fast_s in ((0.9, 0.1), (5.9, 3.0)):
        told: list[str] = []
        looked = roster(told)
        for _ in range(20):
            count(looked, tmp_path, fast=(FAST, fast_s), slow=(SLOW, slow_s))
        assert told == []


def test_four_boots_say_nothing_of_a_worker(tmp_path: Path) -> None:
    told: list[str] = []
    looked = roster(told)
    for _ in range(4):
        count(looked, tmp_path, fast=(FAST, 3.0), slow=(SLOW, 30.0))
    assert told == []


def test_every_tool_that_differs_is_named_with_both_hashes() -> None:
    def facts(**more: Any) -> WorkerFacts:
        said: dict[str, Any] = {"tools": {"qemu": "a" * 64, "plugin": "b" * 64}, "problem": None, **more}
        return WorkerFacts("node7", "x86_64", "cpu", "flags", said.pop("sources", hash_sources()), **said)

    ours = {"qemu": "a" * 64, "plugin": "b" * 64}
    assert differs(facts(), ours) is None
    assert differs(facts(tools={"qemu": "c" * 64, "plugin": "b" * 64}), ours) == (
        f"another qemu, {'c' * 12} and not {'a' * 12}"
    )
    assert differs(facts(tools={"qemu": "a" * 64}), ours) == f"another plugin, none and not {'b' * 12}"
    told = differs(facts(tools={**ours, "compiler": "gcc 12.2.0"}), {**ours, "compiler": "gcc 14.1.0"})
    assert told == "another compiler, gcc 12.2.0 and not gcc 14.1.0"
    assert "another firmware" in str(differs(facts(tools={**ours, "firmware": "d"}), ours))
    assert "another bootlab" in str(differs(facts(sources="e" * 64), ours))
    assert differs(facts(problem="no QEMU there"), ours) == "no QEMU there"


def test_a_series_by_a_clock_on_the_wall_stays_with_its_processor(tmp_path: Path) -> None:
    """Another port is the same machine, another processor is none: not by its address, nor by its host's name."""

    def one_for(address: str, host: str, flags: str) -> str:
        looked = roster([])
        looked._facts = {address: WorkerFacts(host, "x86_64", "some cpu", flags, hash_sources())}
        return looked.one_for(tmp_path, [address])

    assert one_for(FAST, "node7", "aaa") == FAST
    kept = json.loads((tmp_path / ALONE).read_text())
    assert (kept["host"], kept["cpu_model"], kept["cpu_flags"]) == ("node7", "some cpu", "aaa")
    assert one_for(SLOW, "node7", "aaa") == SLOW
    for address, host, flags in ((FAST, "node7", "bbb"), (SLOW, "node7", "bbb"), (FAST, "node8", "aaa")):
        with pytest.raises(BootFailed, match=r"timed on worker tls://192\.0\.2\.1:1 \(node7, some cpu, aaa\)"):
            one_for(address, host, flags)
    (tmp_path / ALONE).write_text(json.dumps({"schema": "bootlab.worker/1", "address": FAST, "host": "node7"}))
    assert one_for(SLOW, "node7", "bbb") == SLOW, "an older version kept no processor"
