"""The cache: whole or not there, made once, and clear words when it cannot be written."""

import errno
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from bootlab.build.cache import Cache, file_sha256
from bootlab.errors import StoreError
from bootlab.process import run


def test_an_entry_is_made_once_and_kept(tmp_path: Path) -> None:
    cache, builds = Cache(tmp_path), []

    def build(path: Path) -> None:
        builds.append(path)
        path.write_text("content")

    first = cache.make("thing", "key", build)
    assert cache.make("thing", "key", build) == first == cache.find("thing", "key")
    assert first.read_text() == "content"
    assert len(builds) == 1
    assert cache.make("thing", "other key", build) != first


def test_a_directory_can_be_an_entry(tmp_path: Path) -> None:
    def build(path: Path) -> None:
        path.mkdir()
        (path / "file").write_text("content")

    assert (Cache(tmp_path).make("tree", "key", build) / "file").read_text() == "content"


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    def build(path: Path) -> None:
        path.write_text("half")
        (path.parent / "scratch").write_text("more")
        raise RuntimeError("broken")

    cache = Cache(tmp_path)
    with pytest.raises(RuntimeError, match="broken"):
        cache.make("thing", "key", build)
    assert list((tmp_path / "thing").iterdir()) == []


def test_what_a_killed_build_left_is_cleared(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    place = cache.path("thing", "key")
    left = place.with_name(f".{place.name}.new")
    left.mkdir(parents=True)
    (left / "made").write_text("half")
    assert cache.make("thing", "key", _write_whole).read_text() == "whole"
    assert list((tmp_path / "thing").iterdir()) == [place]


def test_an_entry_that_lost_files_is_made_anew(tmp_path: Path) -> None:
    def build(path: Path) -> None:
        path.mkdir()
        for name in ("Makefile", "init", "odd\nname"):
            (path / name).write_text(name)

    cache = Cache(tmp_path)
    tree = cache.make("tree", "key", build)
    (tree / "added").touch()
    assert cache.find("tree", "key") == tree
    (tree / "Makefile").unlink()
    assert cache.find("tree", "key") is None
    assert (cache.make("tree", "key", build) / "Makefile").read_text() == "Makefile"
    assert not (tree / "added").exists()
    whole = cache.make("thing", "key", _write_whole)
    whole.write_text("")
    assert cache.find("thing", "key") is None
    assert cache.make("thing", "key", _write_whole).read_text() == "whole"


def test_an_entry_with_a_file_of_another_length_is_made_anew(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff\x1b")

    def build(path: Path) -> None:
        path.mkdir()
        for name in ("vmlinux", odd):
            (path / name).write_text("content")
        (path / "link").symlink_to("vmlinux")

    cache = Cache(tmp_path)
    tree = cache.make("tree", "key", build)
    assert cache.find("tree", "key") == tree
    for name in ("vmlinux", odd):
        for spoilt in ("cont", "content and more"):
            (tree / name).write_text(spoilt)
            assert cache.find("tree", "key") is None
            assert (cache.make("tree", "key", build) / name).read_text() == "content"
            assert cache.find("tree", "key") == tree


@pytest.mark.parametrize("said", ["", "{}", "[]", '{"files": 3}', '{"files": {"file": "x"}}', "\0\n"])
def test_a_note_of_lengths_that_is_damaged_is_written_anew(said: str, tmp_path: Path) -> None:
    def build(path: Path) -> None:
        path.mkdir()
        (path / "file").write_text("content")

    cache = Cache(tmp_path)
    tree = cache.make("tree", "key", build)
    size = cache.disk_bytes(tree)
    assert size is not None and size > 0
    cache.sizes(tree).write_text(said)
    assert cache.find("tree", "key") is None
    assert cache.disk_bytes(tree) is None
    cache.make("tree", "key", build)
    assert cache.find("tree", "key") == tree and cache.disk_bytes(tree) == size


def test_an_entry_from_before_lengths_were_noted_counts(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    tree = cache.make("tree", "key", lambda path: path.mkdir())
    cache.sizes(tree).unlink()
    assert cache.find("tree", "key") == tree and cache.disk_bytes(tree) is None
    cache.note(tree).write_bytes(b"\xff")
    assert cache.find("tree", "key") is None, "a note that is no text"


def test_a_use_is_noted_at_most_once_an_hour(tmp_path: Path) -> None:
    cache, now_s = Cache(tmp_path), time.time()
    place = cache.make("thing", "key", _write_whole)

    def noted_s(before_s: float) -> float:
        os.utime(cache.note(place), (before_s, before_s))
        assert cache.find("thing", "key") == place
        return cache.note(place).stat().st_mtime

    assert noted_s(now_s - 40 * 86400) >= now_s - 1
    assert noted_s(now_s - 600) == pytest.approx(now_s - 600, abs=1)
    assert noted_s(now_s + 40 * 86400) <= time.time() + 1, "a clock that was wrong"
    os.utime(cache.note(place), (0, 0))
    assert cache.make("thing", "key", _write_whole) == place
    assert cache.note(place).stat().st_mtime >= now_s - 1
    os.utime(cache.note(place), (0, 0))
    cache.note_use(place)
    assert cache.note(place).stat().st_mtime >= now_s - 1
    cache.note_use(cache.path("thing", "never made"))


def test_who_may_only_read_takes_what_is_there(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    place = cache.make("thing", "key", _write_whole)
    os.utime(cache.note(place), (0, 0))
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    found = _as_another_user(f"print(Cache(Path({str(cache.root)!r})).find('thing', 'key'))")
    assert found == f"{place}\n"
    assert cache.note(place).stat().st_mtime == 0
    running = [path.name.split("-")[1] for path in (cache.root / "locks").iterdir() if path.name.startswith("running-")]
    assert running == [str(os.getpid())]


def _as_another_user(python: str) -> str:
    program = f"from pathlib import Path\nfrom bootlab.build.cache import Cache\n{python}"
    words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    return run([*words, sys.executable, "-c", program]).text


def test_two_at_once_build_once(tmp_path: Path) -> None:
    builds = []

    def build(path: Path) -> None:
        builds.append(path)
        time.sleep(0.2)
        path.write_text("content")

    threads = [threading.Thread(target=lambda: Cache(tmp_path).make("thing", "key", build)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1


def test_full_disk_is_a_store_error_with_a_way_out(tmp_path: Path) -> None:
    def build(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with pytest.raises(StoreError, match="no space left while making thing") as caught:
        Cache(tmp_path).make("thing", "key", build)
    assert caught.value.hint is not None and "BOOTLAB_CACHE" in caught.value.hint
    assert list((tmp_path / "thing").iterdir()) == []


def test_a_program_that_meets_a_full_disk_is_a_store_error(tmp_path: Path) -> None:
    def build(path: Path) -> None:
        run(["sh", "-c", "exec cat > /dev/full"], input=b"content")

    with pytest.raises(StoreError, match="no space left"):
        Cache(tmp_path).make("thing", "key", build)


def test_a_cache_that_cannot_be_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Not a directory|File exists"):
        Cache(tmp_path / "file" / "cache").make("thing", "key", lambda path: None)


def test_default_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("BOOTLAB_CACHE", raising=False)
    assert Cache.default().root == tmp_path / "bootlab"
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "named"))
    assert Cache.default().root == tmp_path / "named"


def test_file_sha256(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert file_sha256(tmp_path / "empty") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def _write_whole(path: Path) -> None:
    path.write_text("whole")
