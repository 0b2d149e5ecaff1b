"""`bootlab cache`: tells what the cache holds, lists what may go, and removes it only where it is told to."""

import json
import os
import time
from pathlib import Path

import pytest
from rich.table import Table

from bootlab.build.cache import Cache
from bootlab.build.eviction.choice import Eviction, choose
from bootlab.build.eviction.items import CacheContents, CacheItem, KindContents
from bootlab.build.eviction.removal import remove
from bootlab.build.eviction.survey import survey
from bootlab.cli.app import run
from bootlab.errors import InputError, StoreError
from bootlab.report.cache import Evicted, EvictionDocument, cache_view, eviction_view


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache with an old kernel, a new one, an old card, and things that stay."""
    cache = Cache(tmp_path / "of [red]\x1b[1m")
    monkeypatch.setenv("BOOTLAB_CACHE", str(cache.root))
    for kind, key, days in (("kernel", "old", 40.0), ("kernel", "new", 0.0), ("card", "older", 50.0)):
        place = cache.make(kind, key, lambda out: written(out, 3 << 20))
        aged(cache.note(place), days)
    for name in ("packages/trixie-amd64-bash.json", "ccache/0/object", "photos/[bold]one"):
        written(cache.root / name, 1000)
        aged(cache.root / name, 60)
    return cache


def written(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(os.urandom(size))
        os.fsync(file.fileno())


def aged(path: Path, days: float) -> None:
    then = time.time() - days * 86400
    os.utime(path, (then, then))


@pytest.mark.promise("bootlab cache list")
def test_each_kind_is_listed_with_its_size_and_its_last_use(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cache", "list"]) == 0
    said = capsys.readouterr().out
    assert "kernels, built" in said and "6.0 MiB" in said and "free on its file system" in said
    assert "\x1b" not in said and "[red]" in said and "left alone, not bootlab's" in said
    assert run(["cache", "list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    kinds = {row["kind"]: row for row in document["kinds"]}
    assert document["schema"] == "bootlab.cache/1"
    assert kinds["kernel"]["entries"] == 2 and kinds["kernel"]["bytes"] >= 6 << 20
    assert kinds["kernel"]["last_used_ns"] > time.time_ns() - 3600 * 10**9
    assert {kind: row["goes"] for kind, row in kinds.items()} == {
        "card": "by age",
        "ccache": "never",
        "contents": "by age",
        "kernel": "by age",
        "locks": "never",
        "packages": "when named",
    }
    assert [Path(one["path"]).name for one in document["unknown"]] == ["photos"]
    assert document["bytes"] >= 9 << 20 and document["free_bytes"] > 0


@pytest.mark.promise("bootlab cache gc")
def test_what_may_go_is_listed_first_and_removed_when_asked(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cache", "gc"]) == 0
    said = capsys.readouterr().out
    assert said.index("50 days  card") < said.index("40 days  kernel") < said.index("2 entries, 6.0 MiB, may go")
    assert "--remove removes them" in said and "\x1b" not in said
    assert "stays unless --kind packages names it: 1 files" in said
    assert "left alone: ccache" in said and "photos" in said
    assert len(list((cache.root / "kernel").iterdir())) == 2
    assert run(["cache", "gc", "--remove", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "bootlab.cache-gc/1" and document["removed"] and document["not_removed"] == []
    assert [one["kind"] for one in document["removable"]] == ["card", "kernel"]
    assert cache.find("kernel", "old") is None and cache.find("card", "older") is None
    assert cache.find("kernel", "new") is not None
    assert (cache.root / "packages/trixie-amd64-bash.json").exists() and (cache.root / "photos/[bold]one").exists()


def test_only_what_is_asked_for_goes(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    def going(*words: str) -> list[str]:
        assert run(["cache", "gc", *words, "--json"]) == 0
        return [one["kind"] for one in json.loads(capsys.readouterr().out)["removable"]]

    assert going("--older-than", "45") == ["card"]
    assert going("--older-than", "36500") == []
    assert going("--older-than", "0") == ["card", "kernel"], "one was used today"
    assert going("--kind", "kernel") == ["kernel"]
    assert going("--kind", "packages", "--kind", "card") == ["packages", "card"]
    assert going("--to", "7M") == ["card"]
    assert going("--to", "20G") == []
    assert run(["cache", "gc", "--to", "0M"]) == 0
    said = capsys.readouterr().out
    assert "--to 0.0 MiB is not reached" in said and "stays, used within the last day" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--older-than", "-1"], "--older-than.*greater than or equal to 0"),
        (["--older-than", "99999999999999999999"], "--older-than.*less than or equal to 36500"),
        (["--older-than", "nan"], "--older-than.*valid integer"),
        (["--to", "-5G"], "not a size up to 1048576G"),
        (["--to", "lots"], "--to lots: not a size"),
        (["--to", "99999999999999999999G"], "not a size"),
        (["--to", "1G,2G"], "expected one size"),
        (["--to", ""], "not a size"),
        (["--to", "1,2"], "expected one size"),
        (["--kind", "photos"], "no such kind"),
        (["--kind", "../.."], "no such kind"),
        (["--kind", "ccache"], "is left alone: ccache keeps it below"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: list[str], message: str, cache: Cache) -> None:
    with pytest.raises(InputError, match=message) as caught:
        run(["cache", "gc", *words, "--remove"])
    assert "--to" not in words or caught.value.hint == "--to 20G, or --to 500M"
    assert cache.find("card", "older") is not None


def test_a_time_of_any_year_is_shown(cache: Cache) -> None:
    def days(used_ns: int) -> str:
        item = CacheItem("kernel", cache.root / "kernel/one", 1 << 20, used_ns)
        kind = KindContents("kernel", 1, item.disk_bytes, used_ns, (item,))
        table = cache_view(CacheContents(cache.root, (kind,), (), ()), None).lines[0]
        assert isinstance(table, Table)
        return str(next(iter(table.columns[3].cells)))

    # Some file systems keep times of 64 bits.
    assert days(99_999_999_999_999 * 10**9) == "9999-12-31"
    assert days(-99_999_999_999_999 * 10**9) == "0001-01-01"
    assert days(0) == "1970-01-01" and days(-1) == "1969-12-31"


def test_what_somebody_else_removed_before_is_told_and_does_not_stay(cache: Cache) -> None:
    found = survey(cache)
    asked = Eviction(30)
    choice = choose(found.items, asked, found.disk_bytes, time.time_ns(), None)
    choice.going[0].path.unlink()
    done = remove(cache, choice.going)
    view = eviction_view(Evicted(found, asked, choice, None, done, None, time.time_ns()))
    assert view.good and "1 entries, 3.0 MiB, were removed by somebody else before" in view.lines
    assert isinstance(view.document, EvictionDocument)
    assert view.document.already_gone == [str(choice.going[0].path)]
    assert view.document.kept_bytes == found.disk_bytes - sum(item.disk_bytes for item in choice.going)


def test_kinds_are_completed() -> None:
    from bootlab.cli.app import read_verb

    gc = read_verb("cache").commands["gc"]  # type: ignore[union-attr]
    option = next(one for one in gc.params if one.name == "kind")
    found = [one.value for one in option.shell_complete(gc.make_context("gc", []), "kernel-s")]
    assert found == ["kernel-source"]


def test_no_cache_is_an_empty_one_and_a_file_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "none"))
    assert run(["cache", "list"]) == 0 and run(["cache", "gc", "--remove"]) == 0
    assert "0 entries" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").touch()
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="Not a directory"):
        run(["cache", "list"])
