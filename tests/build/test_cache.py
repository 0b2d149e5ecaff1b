"""The cache: whole or not there, made once, and clear words when it cannot be written."""

import errno
import os
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
