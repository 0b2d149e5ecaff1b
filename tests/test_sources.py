"""Where bootlab's own files are that are not Python: in this checkout, and in a package made of it."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from bootlab import __version__, sources

CHECKOUT = Path(__file__).parents[1]


def test_a_checkout_is_used_as_it_lies() -> None:
    assert not sources.INSTALLED and sources.SOURCES == CHECKOUT
    for path in (sources.GUEST, sources.PATCHES, sources.PLUGIN, sources.EXAMPLES, sources.SETUP, sources.MEASURED):
        assert path.exists()


def copied_tree(folder: Path) -> Path:
    """Return a copy of this checkout: a build leaves its files beside what it builds."""
    tree = folder / "tree"
    subprocess.run(["git", "-C", CHECKOUT, "checkout-index", "--all", f"--prefix={tree}/"], check=True)
    return tree


def tracked_names() -> list[str]:
    tracked = subprocess.run(["git", "-C", CHECKOUT, "ls-files", "-z"], check=True, capture_output=True, text=True)
    return tracked.stdout.split("\0")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of this checkout, unpacked where Python finds it."""
    folder = tmp_path_factory.mktemp("package")
    tree = copied_tree(folder)
    build = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel", "--no-deps"]
    subprocess.run([*build, "--no-build-isolation", "--wheel-dir", folder, tree], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


def bootlab(installed: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed), "BOOTLAB_CACHE": str(installed.parent / "cache")}
    command = [sys.executable, "-m", "bootlab", *words]
    return subprocess.run(command, env=environment, cwd=installed, check=True, capture_output=True, text=True).stdout


def test_a_package_carries_them_all_and_nothing_that_was_built(installed: Path) -> None:
    folders = ("plugin/", "guest/", "patches/", "examples/")
    wanted = {name for name in tracked_names() if name.startswith(folders)}
    carried = installed / "bootlab" / "carried"
    found = {path.relative_to(carried).as_posix() for path in carried.rglob("*") if not path.is_dir()}
    assert wanted <= found
    assert found - wanted == {"LICENSES", "docs/measured.json", "scripts/setup", "scripts/apt-source"}


def test_a_package_brings_a_manual_page_of_every_verb_that_tells_its_version(installed: Path) -> None:
    (pages,) = installed.glob("bootlab-*.data/data/share/man/man1")
    names = {page.name for page in pages.iterdir()}
    assert {"bootlab.1", "bootlab-boot.1"} <= names
    assert names == {page.name for page in (CHECKOUT / "debian" / "man").glob("*.1")}
    assert all(f'"bootlab {__version__}"' in page.read_text() for page in pages.iterdir())


def test_a_package_names_the_licences_of_all_that_it_carries(installed: Path) -> None:
    (told,) = installed.glob("bootlab-*.dist-info/METADATA")
    assert (
        "\nLicense-Expression: MIT AND GPL-2.0-or-later AND GPL-2.0-only AND BSD-2-Clause-Patent\n" in told.read_text()
    )
    texts = told.parent / "licenses"
    for name in ("LICENSE", "LICENSES", "plugin/COPYING", "patches/edk2/COPYING"):
        assert (texts / name).read_text() == (CHECKOUT / name).read_text()


def test_an_sdist_has_what_a_package_of_it_carries_and_no_package_is_made_without_manual_pages(tmp_path: Path) -> None:
    tree = copied_tree(tmp_path)
    made = "import setuptools.build_meta as made; made.build_sdist('..')"
    subprocess.run([sys.executable, "-c", made], cwd=tree, check=True, capture_output=True)
    (archive,) = tmp_path.glob("bootlab-*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    folders = ("bootlab/", "plugin/", "guest/", "patches/", "examples/", "debian/man/")
    wanted = {name for name in tracked_names() if name.startswith(folders)}
    assert wanted | {"LICENSES", "docs/measured.json", "scripts/setup", "scripts/apt-source"} <= names
    shutil.rmtree(tree / "debian/man")
    built = subprocess.run(
        [sys.executable, "setup.py", "build_py"], cwd=tree, capture_output=True, text=True, check=False
    )
    assert built.returncode == 1
    assert f"setup.py: error: {tree}/debian/man: no manual pages there" in built.stderr
    assert "Traceback" not in built.stderr


def test_a_package_lists_its_own_examples_and_builds_its_own_plugin(installed: Path) -> None:
    rows = json.loads(bootlab(installed, "examples", "--json"))["examples"]
    carried = installed / "bootlab" / "carried" / "examples"
    assert carried / "debian-cloud.toml" in {Path(row["path"]) for row in rows}
    assert all(Path(row["path"]).is_relative_to(carried) for row in rows)
    tools = {tool["name"]: tool for tool in json.loads(bootlab(installed, "doctor", "--json"))["tools"]}
    assert tools["plugin"]["found"] and tools["plugin"]["version"].startswith(str(installed.parent / "cache"))
