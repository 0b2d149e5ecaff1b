"""Extensions in folders and in installed packages: what is found, and what is named instead of stopping the rest."""

import importlib.metadata
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from bootlab.extensions import folders
from bootlab.extensions.broken import forget_broken, noted
from bootlab.extensions.folders import GROUP, find_modules, find_places


@pytest.fixture(autouse=True)
def nothing_noted() -> Iterator[None]:
    forget_broken()
    yield
    forget_broken()


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def names(folder: Path, kind: str = "techniques") -> list[str]:
    return [one.relative for place in find_places((folder,)) for one in find_modules(place, kind)]


def test_modules_are_found_and_may_share_one_that_begins_with_an_underscore(tmp_path: Path) -> None:
    folder = written(
        tmp_path, techniques__cmdline__a="from ..words import WORD\n", techniques__words="from .sub._own import WORD\n"
    )
    written(folder / "techniques" / "sub", _own="WORD = 'quiet'\n")
    assert names(folder) == ["cmdline/a.py", "words.py"]
    (place,) = find_places((folder, folder))
    assert [getattr(one.module, "WORD", None) for one in find_modules(place, "techniques")] == ["quiet", "quiet"]
    assert not noted()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import no_such_thing\n", "line 1: ModuleNotFoundError: No module named 'no_such_thing'"),
        ("def (\n", "line 1: SyntaxError: invalid syntax"),
        ("\nraise SystemExit(3)\n", "line 2: SystemExit: 3"),
        ("raise BaseException\n", "line 1: BaseException"),
        ("1 / 0\n", "line 1: ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_cannot_be_imported_costs_itself_alone(code: str, why: str, tmp_path: Path) -> None:
    folder = written(tmp_path, techniques__cmdline__bad=code, techniques__cmdline__good="x = 1\n")
    assert names(folder) == ["cmdline/good.py"]
    (one,) = noted()
    assert one.where == str(folder / "techniques/cmdline/bad.py")
    assert one.why.startswith(why)


def test_ctrl_c_while_a_file_is_imported_is_the_users(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        names(written(tmp_path, techniques__cmdline__slow="raise KeyboardInterrupt\n"))


def test_a_path_that_is_no_name_is_told(tmp_path: Path) -> None:
    assert names(written(tmp_path, **{"techniques__cmdline__no-name": "x = 1\n"})) == []
    assert "no name of a Python module" in noted()[0].why


@pytest.mark.parametrize("kind", ["nothing", "file", "empty"])
def test_what_is_no_extension_is_told(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    if kind == "file":
        folder.write_text("")
    elif kind == "empty":
        folder.mkdir()
    assert find_places((folder,)) == ()
    (one,) = noted()
    assert one.where == str(folder)
    assert one.why == (
        "none of the folders techniques, importers, host_models is in it"
        if kind == "empty"
        else "no such folder, expected one with techniques, importers or host_models in it"
    )


def test_an_installed_package_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As pip leaves it: a package and a folder of metadata on Python's path."""
    written(tmp_path / "strangers_boots", __init__="", techniques__cmdline__a="x = 1\n")
    info = tmp_path / "strangers_boots-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers-boots\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{GROUP}]\nboots = strangers_boots\ngone = strangers_gone\nmodule = json.decoder\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = [place for place in find_places() if place.package == "strangers_boots"]
    assert [one.relative for one in find_modules(found[0], "techniques")] == ["cmdline/a.py"]
    said = {one.where: one.why for one in noted()}
    assert said["entry point gone = strangers_gone of strangers-boots"].startswith("ModuleNotFoundError")
    assert "expected a package" in said["entry point module = json.decoder of strangers-boots"]


def test_entry_points_are_read_in_the_order_of_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [EntryPoint(name, "no_such_package", GROUP) for name in "ba"]
    monkeypatch.setattr(folders, "entry_points", lambda group: importlib.metadata.EntryPoints(entries))
    assert find_places() == ()
    assert [one.where for one in noted()] == [f"entry point {name} = no_such_package" for name in "ab"]
    assert "no_such_package" not in sys.modules
