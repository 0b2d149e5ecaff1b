"""A site's folder: written whole or not at all, once for what is unchanged, and nothing of anybody else touched."""

import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from bootlab.errors import InputError, StoreError
from bootlab.ledger.site_folder import MANIFEST, Publication, open_site


def published(root: Path, *, made_of: str = "", **pages: str) -> Publication:
    with open_site(root) as site:
        for name, text in pages.items():
            site.put(f"{name.replace('__', '/')}.html", text, made_of)
        return site.publish()


def files(root: Path) -> set[str]:
    """Return what a visitor could open, and no file of bootlab's own."""
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()} - {
        MANIFEST,
        ".bootlab-site.lock",
    }


def test_what_is_unchanged_is_not_written_again_and_what_is_gone_goes(tmp_path: Path) -> None:
    assert published(tmp_path, index="a", systems__x="b", systems__y="c") == Publication(3, 0, 0, ())
    (tmp_path / "index.html").touch()
    before = (tmp_path / "index.html").stat().st_mtime_ns
    assert published(tmp_path, index="a", systems__x="new") == Publication(1, 1, 1, ())
    assert (tmp_path / "index.html").stat().st_mtime_ns == before
    assert (tmp_path / "systems/x.html").read_text() == "new"
    assert files(tmp_path) == {"index.html", "systems/x.html"}
    assert published(tmp_path, index="a") == Publication(0, 1, 1, ())
    assert not (tmp_path / "systems").exists(), "an empty folder of the site goes with its last file"


def test_a_page_made_of_the_same_is_kept_without_making_it(tmp_path: Path) -> None:
    published(tmp_path, made_of="1", a="long to make")
    with open_site(tmp_path) as site:
        assert not site.keep("a.html", "2") and not site.keep("b.html", None)
        assert site.keep("a.html", "1") and site.read("a.html") == "long to make"
        assert site.publish() == Publication(0, 1, 0, ())
    (tmp_path / "a.html").unlink()
    with open_site(tmp_path) as site:
        assert not site.keep("a.html", None), "somebody has removed it"


def test_files_of_others_are_neither_changed_nor_removed(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems/notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"index\.html: is there, and bootlab has not published it"):
        published(tmp_path, systems__x="b", index="a")
    assert files(tmp_path) == {"index.html", "systems/notes.txt"}, "nothing was published"
    (tmp_path / "index.html").unlink()
    published(tmp_path, systems__x="b", index="a")
    published(tmp_path, index="a")
    assert files(tmp_path) == {"index.html", "systems/notes.txt"}


def test_a_page_that_somebody_has_changed_stays(tmp_path: Path) -> None:
    published(tmp_path, x="b", index="a")
    (tmp_path / "x.html").write_text("edited")
    with pytest.raises(InputError, match=r"x\.html: has been changed since; nothing was published"):
        published(tmp_path, x="c", index="new")
    assert (tmp_path / "index.html").read_text() == "a"
    assert published(tmp_path, index="new") == Publication(1, 0, 0, ("x.html",))
    assert (tmp_path / "x.html").read_text() == "edited"


def test_links_lead_nowhere_else(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "site"
    outside.mkdir()
    root.mkdir()
    (root / "systems").symlink_to(outside)
    with pytest.raises(InputError, match="leads out of the site, by a link"):
        published(root, systems__x="b")
    (root / "systems").unlink()
    (outside / "victim").write_text("mine")
    (root / "a.html").symlink_to(outside / "victim")
    with pytest.raises(InputError, match="is no file that bootlab has published"):
        published(root, a="b")
    assert (outside / "victim").read_text() == "mine"


@pytest.mark.parametrize("name", ["../victim", "/etc/passwd", "", "a/../../victim", "a\\u0000b"])
def test_a_list_of_files_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "victim").write_text("mine")
    root = tmp_path / "site"
    published(root, index="a")
    said = json.loads((root / MANIFEST).read_text())
    (root / MANIFEST).write_text(json.dumps({**said, "files": {json.loads(f'"{name}"'): said["files"]["index.html"]}}))
    with pytest.raises(StoreError, match="is no path below the folder"):
        published(root, index="a")
    assert (tmp_path / "victim").read_text() == "mine"


def test_a_damaged_list_of_files_is_told(tmp_path: Path) -> None:
    published(tmp_path, index="a")
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(StoreError, match=r"bootlab-site\.json: damaged"):
        published(tmp_path, index="a")


def test_what_stops_it_leaves_the_site_as_it_was(tmp_path: Path) -> None:
    published(tmp_path, index="a")
    with pytest.raises(KeyboardInterrupt), open_site(tmp_path) as site:
        site.put("index.html", "b")
        site.put("systems/x.html", "b")
        raise KeyboardInterrupt
    assert files(tmp_path) == {"index.html"} and (tmp_path / "index.html").read_text() == "a"


def _publish_and_die(root: Path, dies_at: int) -> None:
    moved = 0
    replace = Path.replace

    def once(self: Path, target: Path) -> Path:
        nonlocal moved
        moved += 1
        if moved == dies_at:
            os._exit(9)
        return replace(self, target)

    Path.replace = once  # type: ignore[method-assign, assignment]
    published(root, systems__x="new", systems__y="new", index="new")


@pytest.mark.parametrize("dies_at", range(1, 6))
def test_killed_at_any_moment_every_page_is_whole_and_the_next_one_mends_it(tmp_path: Path, dies_at: int) -> None:
    published(tmp_path, systems__x="old", gone="old", index="old")
    child = multiprocessing.get_context("fork").Process(target=_publish_and_die, args=(tmp_path, dies_at))
    child.start()
    child.join(30)
    assert child.exitcode == 9
    there = {name: (tmp_path / name).read_text() for name in files(tmp_path) if not name.startswith(".bootlab")}
    assert set(there.values()) <= {"old", "new"}
    if there["index.html"] == "new":
        assert {"systems/x.html", "systems/y.html"} <= there.keys(), "what it leads to is there"
    published(tmp_path, systems__x="new", systems__y="new", index="new")
    assert files(tmp_path) == {"index.html", "systems/x.html", "systems/y.html"}
    assert {(tmp_path / name).read_text() for name in files(tmp_path)} == {"new"}


def _hold(root: Path, held: "multiprocessing.synchronize.Event") -> None:
    with open_site(root):
        held.set()
        time.sleep(60)


def test_two_do_not_publish_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    held = context.Event()
    child = context.Process(target=_hold, args=(tmp_path, held))
    child.start()
    try:
        assert held.wait(30)
        with pytest.raises(InputError, match="another bootlab publishes there"):
            published(tmp_path, index="a")
    finally:
        child.kill()
        child.join()
    published(tmp_path, index="a")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        published(tmp_path / "file" / "site", index="a")
