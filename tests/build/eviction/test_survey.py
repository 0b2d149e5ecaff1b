"""What lies in a cache, each thing for what it is; odd names, links, and what vanishes or cannot be read included."""

import os
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.eviction.items import CacheContents, CacheItem, Standing
from bootlab.build.eviction.survey import survey
from bootlab.errors import StoreError

HASH = "0" * 64


def named(found: CacheContents) -> dict[str, CacheItem]:
    return {str(item.path.relative_to(found.root)): item for item in found.items}


def written(path: Path, size: int = 5000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(os.urandom(size))
        os.fsync(file.fileno())
    return path


def test_entries_are_told_with_their_size_and_their_last_use(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    file = cache.make("card", "key", lambda out: written(out, 40_000))
    tree = cache.make("kernel", "key", lambda out: written(out / "below/vmlinux", 60_000))
    unnoted = written(tmp_path / "card" / HASH)
    os.utime(cache.note(file), ns=(5, 5))
    found = survey(cache)
    items = named(found)
    assert items.keys() == {f"card/{file.name}", f"kernel/{tree.name}", f"card/{HASH}"}
    one = items[f"card/{file.name}"]
    assert one.used_ns == 5 and one.disk_bytes >= 40_000 and one.lock == f"card-{file.name}" and not one.at_work
    assert items[f"kernel/{tree.name}"].disk_bytes >= 60_000
    assert items[f"card/{HASH}"].used_ns == unnoted.stat().st_ctime_ns
    kinds = {kind.kind: kind for kind in found.kinds}
    assert kinds["card"].number == 2 and kinds["kernel"].number == 1
    assert kinds["contents"].number == 3 and kinds["contents"].items == ()
    assert found.disk_bytes >= 105_000 and found.unknown == () == found.unreadable


def test_the_size_of_a_tree_is_as_it_was_noted_and_counted_where_it_was_not(tmp_path: Path) -> None:
    cache, told = Cache(tmp_path), list[str]()
    tree = cache.make("kernel", "key", lambda out: written(out / "vmlinux", 60_000))
    noted = survey(cache, told.append).items[0].disk_bytes
    assert told.count("kernel") == 1
    told.clear()
    cache.sizes(tree).write_text('{"disk_bytes": 1e999, "files": {}}')
    assert survey(cache, told.append).items[0].disk_bytes == noted
    assert told.count("kernel") == 2, "its folder was looked into"


def test_what_others_work_on_is_told(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    file = cache.make("card", "key", written)
    written(tmp_path / "kernel-objects/kernel-ab/objects/main.o")
    written(tmp_path / "apt/trixie-amd64/lists")
    with cache.lock(f"card-{file.name}"), cache.lock("packages-trixie-amd64"):
        assert {name: item.at_work for name, item in named(survey(cache)).items()} == {
            f"card/{file.name}": True,
            "kernel-objects/kernel-ab": False,
            "apt/trixie-amd64": True,
        }
    with cache.lock("kernel-ab"):
        assert named(survey(cache))["kernel-objects/kernel-ab"].at_work


def test_what_killed_calls_left_is_told_from_what_is_in_use(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    written(tmp_path / f"card/.{HASH}.new/made")
    written(tmp_path / f"card/.removing-{HASH}")
    written(tmp_path / "kernel-objects/kernel-ab.stale/main.o")
    written(tmp_path / "bootlab-root-abc/file")
    written(tmp_path / ".removing-bootlab-image-abc/file")
    written(tmp_path / f"contents/installing-{HASH}")
    written(tmp_path / "packages/.trixie-amd64-bash.json.123.new")
    found = named(survey(cache))
    assert {name: (item.standing, item.lock) for name, item in found.items()} == {
        f"card/.{HASH}.new": (Standing.REMAINS, f"card-{HASH}"),
        f"card/.removing-{HASH}": (Standing.REMAINS, None),
        "kernel-objects/kernel-ab.stale": (Standing.REMAINS, "kernel-ab"),
        "bootlab-root-abc": (Standing.SCRATCH, None),
        ".removing-bootlab-image-abc": (Standing.REMAINS, None),
        f"contents/installing-{HASH}": (Standing.REMAINS, f"installing-{HASH}"),
        "packages/.trixie-amd64-bash.json.123.new": (Standing.SCRATCH, None),
    }


def test_what_is_not_bootlabs_is_named_and_no_link_is_followed(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    written(elsewhere / HASH, 100_000)
    written(root / "notes.txt")
    written(root / "photos/one.jpg", 70_000)
    written(root / "kernel/README")
    written(root / os.fsdecode(b"\xff\n\x1b[31m"))
    written(root / "ccache/0/object")
    (root / "card").symlink_to(elsewhere)
    (root / "disk").symlink_to("/nonexistent")
    (root / f"kernel/{HASH}").symlink_to(elsewhere / HASH)
    found = survey(Cache(root))
    assert found.items == ()
    unknown = {os.fsencode(one.path.relative_to(root)): one for one in found.unknown}
    links = {b"card", b"disk", f"kernel/{HASH}".encode()}
    assert unknown.keys() == {b"notes.txt", b"photos", b"kernel/README", b"\xff\n\x1b[31m", *links}
    assert {name for name, one in unknown.items() if "link" in one.what} == links
    assert unknown[b"photos"].disk_bytes >= 70_000 and unknown[b"card"].disk_bytes < 70_000
    assert [kind.kind for kind in found.kinds] == ["ccache", "kernel"]


def test_what_vanishes_meanwhile_is_left_out(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    card = cache.make("card", "key", written)
    written(tmp_path / "kernel-objects/kernel-ab/main.o")

    def looked(kind: str) -> None:
        # At the first folder that is looked into: apt's.
        card.unlink(missing_ok=True)
        for path in (tmp_path / "kernel-objects").rglob("*.o"):
            path.unlink()

    written(tmp_path / "apt/trixie-amd64/lists/x")
    assert set(named(survey(cache, looked))) == {
        "apt/trixie-amd64",
        f"contents/{cache.note(card).name}",
        "kernel-objects/kernel-ab",
    }


def test_no_cache_has_nothing_and_one_that_is_none_is_an_error(tmp_path: Path) -> None:
    assert survey(Cache(tmp_path / "none")).kinds == ()
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be read: Not a directory") as caught:
        survey(Cache(tmp_path / "file"))
    assert caught.value.hint is not None and "BOOTLAB_CACHE" in caught.value.hint
