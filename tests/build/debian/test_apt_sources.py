"""This machine's apt sources, in both forms, and which of them is Debian."""

from pathlib import Path

import pytest

from bootlab.build.debian.apt_sources import debian_stanzas, suites_on_hand
from bootlab.errors import InputError

_DEB822 = """\
Types: deb
# A comment between two fields.
URIs: http://mirror.invalid/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
Architectures: amd64
Check-Valid-Until: no

Types: deb
URIs: http://mirror.invalid/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://disabled.invalid/debian
Suites: bookworm
Components: main
"""
_ONE_LINE = """\
# deb http://commented.invalid/debian bookworm main
deb-src http://source.invalid/debian bookworm main
deb [arch=amd64,arm64 signed-by=/k.gpg trusted=yes] http://mirror.invalid/debian/ trixie main contrib # a remark
deb http://other.invalid/debian trixie contrib
deb http://third.invalid/tools nodistro main
"""
_KEY = """\
Types: deb
URIs: http://mirror.invalid/debian
Suites: sid
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----
"""


def _apt(folder: Path, **files: str) -> Path:
    (folder / "sources.list.d").mkdir(parents=True)
    for name, text in files.items():
        path = folder / "sources.list" if name == "list" else folder / "sources.list.d" / f"{name}.sources"
        path.write_text(text)
    return folder


def test_deb822_keeps_its_options_and_takes_suite_and_architecture(tmp_path: Path) -> None:
    assert debian_stanzas(_apt(tmp_path, debian=_DEB822), "trixie", "arm64") == [
        "Types: deb\n"
        "Uris: http://mirror.invalid/debian\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
        "Check-Valid-Until: no\n"
        "Suites: trixie\n"
        "Components: main\n"
        "Architectures: arm64\n"
        "Targets: Packages\n"
    ]


def test_one_line_sources_become_the_same(tmp_path: Path) -> None:
    assert debian_stanzas(_apt(tmp_path, list=_ONE_LINE), "bookworm", "amd64") == [
        "Types: deb\n"
        "Uris: http://mirror.invalid/debian/\n"
        "Signed-By: /k.gpg\n"
        "Trusted: yes\n"
        "Suites: bookworm\n"
        "Components: main\n"
        "Architectures: amd64\n"
        "Targets: Packages\n"
    ]


def test_a_key_inside_the_source_stays_whole(tmp_path: Path) -> None:
    (stanza,) = debian_stanzas(_apt(tmp_path, debian=_KEY), "sid", "amd64")
    assert "Signed-By: \n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END" in stanza


def test_what_debian_has_signed_comes_first(tmp_path: Path) -> None:
    other = "Types: deb\nURIs: http://third.invalid/tools\nSuites: bookworm\nComponents: main\n"
    stanzas = debian_stanzas(_apt(tmp_path, aaa=other, debian=_DEB822), "bookworm", "amd64")
    assert ["mirror.invalid" in stanza for stanza in stanzas] == [True, False]


def test_a_machine_without_debian_is_told_what_to_do(tmp_path: Path) -> None:
    other = "Types: deb\nURIs: http://third.invalid/tools\nSuites: nodistro\nComponents: main\n"
    with pytest.raises(InputError, match="no source of a Debian release") as caught:
        debian_stanzas(_apt(tmp_path, other=other), "bookworm", "amd64")
    assert caught.value.hint is not None and "kernel.image" in caught.value.hint


_OTHERS = "Types: deb\nURIs: http://b.invalid/debian\nSuites: bookworm-backports bookworm-debug\nComponents: main\n"


def test_the_additions_to_a_release_are_those_that_the_sources_name(tmp_path: Path) -> None:
    strange = "Types: deb\nURIs: http://third.invalid/tools\nSuites: bookworm-tools\nComponents: contrib\n"
    apt = _apt(tmp_path, debian=_DEB822, others=_OTHERS, strange=strange)
    assert suites_on_hand(apt, "bookworm") == [
        "bookworm", "bookworm-backports", "bookworm-security", "bookworm-updates",
    ]  # fmt: skip
    assert suites_on_hand(apt, "trixie") == ["trixie"]


def test_an_addition_comes_from_where_the_sources_have_it(tmp_path: Path) -> None:
    apt = _apt(tmp_path, debian=_DEB822)
    stanzas = debian_stanzas(apt, "bookworm-security", "amd64")
    assert ["/debian-security" in stanza for stanza in stanzas] == [True, False]
