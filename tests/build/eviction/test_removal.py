"""Removal: an entry is whole or not there, nobody has it when it goes, and it is made again at its next use."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.eviction.choice import Eviction, choose
from bootlab.build.eviction.items import CacheItem
from bootlab.build.eviction.removal import RemovedItems, remove
from bootlab.build.eviction.survey import survey

ROOT = Path(__file__).parents[3]


def tree(out: Path) -> None:
    (out / "modules/lib").mkdir(parents=True)
    (out / "vmlinux").write_text("kernel")
    (out / "modules/lib/one.ko").write_text("module")
    (out / "link").symlink_to("/usr")


def file(out: Path) -> None:
    out.write_text("card")


def old(cache: Cache, place: Path, days: float = 40) -> Path:
    """Let an entry have been used so many days ago."""
    then = time.time() - days * 86400
    os.utime(cache.note(place), (then, then))
    return place


def going(cache: Cache) -> tuple[CacheItem, ...]:
    found = survey(cache)
    return choose(found.items, Eviction(30), found.disk_bytes, time.time_ns(), None).going


def names(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.parent != root / "locks"}


@pytest.mark.parametrize("build", [tree, file])
def test_what_was_removed_is_made_again_at_its_next_use(build: Callable[[Path], None], tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    place = old(cache, cache.make("kernel", "key", build))
    kept = cache.make("kernel", "other", build)
    done = remove(cache, going(cache))
    assert [item.path for item in done.gone] == [place] and done.taken == () == done.failed
    assert list((tmp_path / "kernel").iterdir()) == [kept]
    assert {path.name for path in (tmp_path / "contents").iterdir()} <= {cache.note(kept).name, cache.sizes(kept).name}
    assert cache.find("kernel", "key") is None and cache.find("kernel", "other") == kept
    assert cache.make("kernel", "key", build) == place == cache.find("kernel", "key")


def test_what_was_used_or_made_anew_since_it_was_found_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    used, remade = (old(cache, cache.make("kernel", key, tree)) for key in ("used", "remade"))
    found = going(cache)
    assert cache.find("kernel", "used") == used
    (remade / "vmlinux").unlink()
    cache.make("kernel", "remade", tree)
    done = remove(cache, found)
    assert {item.path for item in done.taken} == {used, remade} and done.gone == () == done.failed
    assert cache.find("kernel", "used") == used and cache.find("kernel", "remade") == remade


def test_what_somebody_works_on_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    place = old(cache, cache.make("kernel", "key", tree))
    work = tmp_path / "kernel-objects/kernel-ab"
    work.mkdir(parents=True)
    os.utime(work, (0, 0))
    found = going(cache)
    assert {item.path for item in found} == {place, work}
    with cache.lock(f"kernel-{place.name}"), cache.lock("kernel-ab"):
        assert {item.path for item in remove(cache, found).taken} == {place, work}
    (work / "building").touch()
    assert [item.path for item in remove(cache, found).gone] == [place], "the folder was worked in since"
    assert work.is_dir()


def test_one_that_is_found_while_it_is_removed_is_whole_or_not_there(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for _ in range(40):
        place = old(cache, cache.make("kernel", "key", tree))
        found, asked = going(cache), list[Path | None]()

        def ask(into: list[Path | None] = asked) -> None:
            into.append(cache.find("kernel", "key"))

        asking = threading.Thread(target=ask)
        asking.start()
        done = remove(cache, found)
        asking.join()
        if asked[0] is not None:
            assert done.gone == () and (place / "modules/lib/one.ko").exists()
        assert not done.failed


def test_what_is_gone_already_is_no_error(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    place = old(cache, cache.make("kernel", "key", tree))
    found = going(cache)
    shutil.rmtree(place)
    done = remove(cache, found)
    assert done.gone == () == done.failed and [item.path for item in done.vanished] == [place]


def test_half_made_and_half_removed_things_go(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    place = old(cache, cache.make("kernel", "key", tree))
    for name in (f".{place.name}.new", f".removing-{place.name}"):
        tree(place.with_name(name) / "made")
    (tmp_path / f"contents/installing-{'0' * 64}").touch()
    (tmp_path / f"contents/installing-{'0' * 64}.sizes").touch()
    half = going(cache)
    assert len(half) == 5
    done = remove(cache, half)
    assert len(done.gone) + len(done.failed) + len(done.taken) >= 4 and done.failed == ()
    assert names(tmp_path) == {"kernel", "contents", "locks"}


def test_a_link_in_an_entry_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    cache, outside = Cache(tmp_path / "cache"), tmp_path / "outside"
    tree(outside)

    def build(out: Path) -> None:
        out.mkdir()
        (out / "link").symlink_to(outside)
        (out / os.fsdecode(b"\xff\n")).symlink_to("/nonexistent")

    old(cache, cache.make("kernel", "key", build))
    assert len(remove(cache, going(cache)).gone) == 1
    assert (outside / "modules/lib/one.ko").exists()


def test_a_use_that_a_killed_removal_saw_is_not_forgotten(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    place = old(cache, cache.make("kernel", "key", tree))
    note = cache.note(place)
    # As one leaves it that is killed after it took the note away, of an entry that was found just before.
    os.utime(note)
    note.rename(note.with_name(f".removing-{note.name}"))
    (item,) = survey(cache).items
    assert item.path == place and item.used_ns > time.time_ns() - 3600 * 10**9
    assert going(cache) == ()


def test_one_that_two_remove_at_once_is_said_to_be_gone_or_taken(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for _ in range(20):
        old(cache, cache.make("kernel", "key", tree))
        found, others = going(cache), list[RemovedItems]()
        other = threading.Thread(target=lambda found=found, others=others: others.append(remove(cache, found)))
        other.start()
        mine = remove(cache, found)
        other.join()
        for done in (mine, others[0]):
            assert len(done.gone + done.taken + done.vanished) == 1 and done.failed == ()
        assert len(mine.gone + others[0].gone) == 1
        assert list((tmp_path / "kernel").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_what_is_mounted_in_an_entry_is_left_alone_and_told(tmp_path: Path) -> None:
    cache, outside = Cache(tmp_path / "cache"), tmp_path / "outside"
    tree(outside)
    place, other = (old(cache, cache.make("kernel", key, tree)) for key in ("key", "other"))
    half = place.with_name(f".{'0' * 64}.new")
    points = [place / "modules", half / "made/proc"]
    points[1].mkdir(parents=True)
    mounted = [subprocess.run(["mount", "--bind", outside, point], check=False).returncode == 0 for point in points]
    try:
        if not all(mounted):
            pytest.skip("this root may not mount")
        done = remove(cache, going(cache))
        assert [item.path for item in done.gone] == [other]
        assert {one.item.path for one in done.failed} == {place, half}
        assert all(one.why.startswith("something is mounted at /") and "umount" in one.why for one in done.failed)
        assert cache.note(place).exists() and place.exists()
    finally:
        for point in points:
            subprocess.run(["umount", point], check=False, capture_output=True)
    assert (outside / "modules/lib/one.ko").exists()
    old(cache, place)
    assert {item.path for item in remove(cache, going(cache)).gone} == {place, half}


_AS_ANOTHER = """
import sys, time
from pathlib import Path
from bootlab.build.cache import Cache
from bootlab.build.eviction.choice import Eviction, choose
from bootlab.build.eviction.removal import remove
from bootlab.build.eviction.survey import survey
cache = Cache(Path(sys.argv[1]))
found = survey(cache)
done = remove(cache, choose(found.items, Eviction(30), found.disk_bytes, time.time_ns(), None).going)
print(sorted(item.path.parent.name for item in done.gone))
print(sorted((one.item.path.parent.name, one.why) for one in done.failed))
print(list(found.unreadable))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to have files of two users")
def test_what_may_not_be_removed_is_told_and_stops_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    theirs, mine, read_only = (old(cache, cache.make(kind, "key", tree)) for kind in ("kernel", "card", "package"))
    (read_only / "modules").chmod(0o555)
    for path in cache.root.rglob("*"):
        if theirs not in (path, *path.parents) and path != theirs.parent:
            os.chown(path, 65534, 65534, follow_symlinks=False)
    os.chown(cache.root, 65534, 65534)
    secret = theirs.parent / "secret"
    secret.mkdir(mode=0o700)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", sys.executable, "-c", _AS_ANOTHER]
    done = subprocess.run([*words, str(cache.root)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "['card', 'package']",
        "[('kernel', 'Permission denied')]",
        f"['{secret}']",
    ]
    assert cache.find("kernel", "key") == theirs and (theirs / "modules/lib/one.ko").exists()
    assert not mine.exists() and not read_only.exists()
