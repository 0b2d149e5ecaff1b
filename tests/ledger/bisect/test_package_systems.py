"""Bisecting over versions of packages: which versions a name means, and what system each becomes."""

import pytest

from bootlab.errors import InputError
from bootlab.ledger.bisect.package_systems import package_line
from bootlab.ledger.bisect.state import BisectState

VERSIONS = ("6.1.8", "6.1.10-1", "6.12.1", "6.12.10-1~bpo12+1", "6.12.10-2~bpo12+1")
STATES = [
    BisectState(name=version, package=f"linux-image-{version.split('-')[0]}-amd64={version}", suite="bookworm")
    for version in VERSIONS
]


def names(good: str, bad: str | None = None) -> list[str]:
    return [state.name for state in package_line(STATES, good, bad)]


def test_a_version_is_named_in_full_or_by_its_beginning_or_its_package() -> None:
    assert names("6.1.8") == list(VERSIONS)
    assert names("6.1.10", "6.12.1") == ["6.1.10-1", "6.12.1"]
    assert names("linux-image-6.12.1-amd64", "6.12.10-2") == list(VERSIONS[2:])
    assert names("linux-image-6.1.8-amd64=6.1.8", "6.12.1") == list(VERSIONS[:3])


@pytest.mark.parametrize(
    ("good", "bad", "says"),
    [
        ("6.1.1", None, "--good 6.1.1: no such version is on hand"),
        ("", None, "--good : no such version"),
        ("6.12.10", None, "--good 6.12.10: several are: linux-image-6.12.10-amd64=6.12.10-1~bpo12"),
        ("6.12.1", "6.1.8", "--good 6.12.1: is newer than --bad 6.1.8"),
        ("6.12.1", "6.12.1", "are the same version, 6.12.1"),
    ],
)
def test_what_is_no_line_of_versions_is_told(good: str, bad: str | None, says: str) -> None:
    with pytest.raises(InputError, match=says.replace(".", r"\.").replace("+", r"\+")):
        names(good, bad)


def test_one_version_is_no_line() -> None:
    with pytest.raises(InputError, match="Debian sources have only linux-image-6.1.8-amd64=6.1.8"):
        package_line(STATES[:1], "6.1.8", None)
    with pytest.raises(InputError, match="Debian sources have none"):
        package_line([], "6.1.8", None)


def test_a_version_is_called_by_all_of_its_name() -> None:
    assert STATES[3].short == "6.12.10-1~bpo12+1"
    assert BisectState(name="0123456789abcdef").short == "0123456789ab"
