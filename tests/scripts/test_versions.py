"""The version is in three files, which agree: at a release, and in the tree between two of them.

At a release `X.Y.Z` is the version of the package, of debian/changelog's first entry, and of the newest section of
CHANGELOG.md, whose Unreleased is empty. Between two the package is `X.Y.Z.dev0` of the release to come, and Debian's
`X.Y.Z~dev0`, which apt takes for older than `X.Y.Z`. CONTRIBUTING.md, Releases, says how one becomes the other.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import bootlab

ROOT = Path(__file__).resolve().parents[2]
DEV = ".dev0"
RELEASED = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2027-01-02\n\n### Added\n\n- A.\n\n## [0.1.0] - 2026-11-22\n"
BETWEEN = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- B.\n\n## [0.1.0] - 2026-11-22\n"
DEBIAN_RELEASED = "bootlab (0.2.0) unstable; urgency=medium\n\nbootlab (0.1.0) unstable; urgency=medium\n"
DEBIAN_BETWEEN = "bootlab (0.2.0~dev0) UNRELEASED; urgency=medium\n\nbootlab (0.1.0) unstable; urgency=medium\n"


def faults(version: str, debian: str, changelog: str) -> Iterator[str]:
    """Yield where the package's version, the text of debian/changelog and that of CHANGELOG.md do not agree."""
    number = version.removesuffix(DEV)
    if re.fullmatch(r"\d+\.\d+\.\d+", number) is None:
        yield f"{version}: neither X.Y.Z nor X.Y.Z{DEV}"
        return
    between = version != number
    entries = re.findall(r"^bootlab \(([^)]*)\) (\w+);", debian, re.MULTILINE)
    first = (number + "~dev0", "UNRELEASED") if between else (number, "unstable")
    if entries[:1] != [first]:
        yield f"debian/changelog begins with {entries[:1]}, the package is {version}: expected {first}"
    released = re.findall(r"^## \[([\d.]+)\] - ", changelog, re.MULTILINE)
    if [name for name, _ in entries[between:]] != released:
        yield f"releases of debian/changelog {entries[between:]} are not those of CHANGELOG.md {released}"
    if re.findall(r"^## \[(.*?)\]", changelog, re.MULTILINE)[:1] != ["Unreleased"]:
        yield "CHANGELOG.md does not begin with Unreleased"
    if between and released and _order(released[0]) >= _order(number):
        yield f"{version} comes before the newest release of CHANGELOG.md, {released[0]}"
    unreleased = changelog.partition("\n## [Unreleased]")[2].partition("\n## [")[0]
    if not between and "\n- " in unreleased:
        yield f"{version} is a release, and CHANGELOG.md has something under Unreleased"


def _order(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


def test_the_three_files_agree() -> None:
    texts = [(ROOT / name).read_text() for name in ("debian/changelog", "CHANGELOG.md")]
    assert not list(faults(bootlab.__version__, *texts))


@pytest.mark.parametrize(
    ("version", "debian", "changelog"),
    [("0.2.0", DEBIAN_RELEASED, RELEASED), ("0.2.0.dev0", DEBIAN_BETWEEN, BETWEEN)],
    ids=["at a release", "between two"],
)
def test_each_state_of_the_tree_is_right(version: str, debian: str, changelog: str) -> None:
    assert not list(faults(version, debian, changelog))


@pytest.mark.parametrize(
    ("version", "debian", "changelog", "says"),
    [
        ("0.2", DEBIAN_RELEASED, RELEASED, "neither X.Y.Z nor"),
        ("0.2.0rc1", DEBIAN_RELEASED, RELEASED, "neither X.Y.Z nor"),
        ("0.2.0", DEBIAN_BETWEEN, RELEASED, "debian/changelog begins with"),
        ("0.2.0.dev0", DEBIAN_RELEASED, BETWEEN, "debian/changelog begins with"),
        ("0.2.0", DEBIAN_RELEASED.replace("unstable", "UNRELEASED", 1), RELEASED, "expected ('0.2.0', 'unstable')"),
        ("0.2.0", DEBIAN_RELEASED, BETWEEN, "are not those of CHANGELOG.md"),
        ("0.2.0.dev0", DEBIAN_BETWEEN, RELEASED, "are not those of CHANGELOG.md"),
        ("0.2.0", DEBIAN_RELEASED, RELEASED.replace("## [Unreleased]\n\n", ""), "does not begin with Unreleased"),
        ("0.1.0.dev0", DEBIAN_BETWEEN.replace("0.2", "0.1"), BETWEEN, "comes before the newest release"),
        ("0.2.0", DEBIAN_RELEASED, RELEASED.replace("sed]\n", "sed]\n\n- B.\n"), "something under Unreleased"),
    ],
)
def test_a_version_that_is_forgotten_somewhere_is_told(version: str, debian: str, changelog: str, says: str) -> None:
    assert any(says in fault for fault in faults(version, debian, changelog))
