"""Licences: what pyproject.toml, debian/copyright and LICENSES say is what stands in the files."""

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
SHIPPED: Final = ("bootlab", "plugin", "guest", "patches", "examples")
"""What a wheel has: the package, and the folders of setup.py's CARRIED."""
SPDX: Final = re.compile(rb"SPDX-License-Identifier:\s*([A-Za-z0-9.+-]+(?: (?:OR|AND) [A-Za-z0-9.+-]+)*)")
NOW: Final = {"GPL-2.0": "GPL-2.0-only", "GPL-2.0+": "GPL-2.0-or-later"}
"""Linux and U-Boot write identifiers that SPDX has renamed."""
DEBIAN: Final = {"MIT": "Expat", "GPL-2.0-only": "GPL-2", "GPL-2.0-or-later": "GPL-2+"}
"""Debian's names of them, where they are others."""


def identifiers(*folders: str) -> dict[str, str]:
    """Return file -> the identifier in its first lines, of those that have one."""
    found = {}
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            place = path.relative_to(ROOT)
            if not path.is_file() or "__pycache__" in place.parts or place.is_relative_to("plugin/build"):
                continue
            with path.open("rb") as file:
                head = SPDX.search(file.read(400))
            if head:
                said = head[1].decode()
                found[place.as_posix()] = NOW.get(said, said)
    return found


def stanzas() -> Iterator[tuple[list[str], str]]:
    """Yield the patterns of files and the licence of each part of debian/copyright that has both."""
    for part in (ROOT / "debian/copyright").read_text().split("\n\n"):
        files = re.search(r"^Files: (.*(?:\n .*)*)", part, re.MULTILINE)
        if files:
            yield files[1].split(), re.findall(r"^License: (.*)", part, re.MULTILINE)[0]


def debian_licence(file: str) -> str:
    """Return what debian/copyright says of a file: its last part that has it."""
    return [licence for patterns, licence in stanzas() if any(fnmatchcase(file, one) for one in patterns)][-1]


def licence_files() -> list[str]:
    found = [path for folder in (*SHIPPED, "tests") for path in (ROOT / folder).rglob("*")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found if path.name in ("LICENSE", "COPYING"))


def test_a_package_says_every_licence_of_what_it_carries() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = {"MIT", *identifiers(*SHIPPED).values()}
    assert len(found) > 3 and not any(" " in one for one in found)
    assert set(project["license"].split(" AND ")) == found
    texts = {file for file in licence_files() if file.startswith(SHIPPED)}
    assert set(project["license-files"]) == {"LICENSE", "LICENSES", *texts}


def test_debian_copyright_says_of_each_file_what_the_file_does() -> None:
    found = identifiers(*SHIPPED, "tests")
    assert len(found) > 500
    wanted = {file: " or ".join(DEBIAN.get(one, one) for one in said.split(" OR ")) for file, said in found.items()}
    assert {file: debian_licence(file) for file in found} == wanted


def test_every_patch_says_its_licence_in_its_first_line() -> None:
    patches = list((ROOT / "patches").rglob("*.patch"))
    assert patches and all(path.read_text().startswith("SPDX-License-Identifier: ") for path in patches)


@pytest.mark.parametrize("file", licence_files())
def test_a_text_of_somebody_elses_licence_is_known_to_both_lists(file: str) -> None:
    folder = str(Path(file).parent)
    assert f"{folder}/" in (ROOT / "LICENSES").read_text()
    assert any(f"{folder}/*" in patterns for patterns, _ in stanzas())


def test_licenses_names_each_folder_that_is_not_mit_and_each_licence_has_its_text() -> None:
    said, copyright_file = (ROOT / "LICENSES").read_text(), (ROOT / "debian/copyright").read_text()
    for patterns, licence in stanzas():
        for pattern in patterns if licence != "Expat" else []:
            assert pattern.removesuffix("*") in said or str(Path(pattern).parent) in said, pattern
        for one in licence.split(" or "):
            assert f"\nLicense: {one}\n " in copyright_file, one
