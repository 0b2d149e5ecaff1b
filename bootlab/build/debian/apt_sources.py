"""Where this machine gets Debian from: its own apt sources, so that a mirror, a proxy or a local copy keeps working.

Both forms are read, deb822 (.sources) and one line (.list), and given back as deb822 fields with their options.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from bootlab.errors import InputError

RELEASES = (
    *("bullseye", "bookworm", "trixie", "forky", "duke", "sid"),
    *("oldoldstable", "oldstable", "stable", "testing", "unstable"),
)
"""Suites that are a whole Debian release and not an addition to one."""

# What the asked suite and architecture decide, and what would fetch more than package lists.
_REPLACED = {"types", "suites", "components", "architectures", "targets", "languages", "pdiffs", "enabled", "by-hash"}
_ONE_LINE_NAMES = {"arch": "architectures", "lang": "languages", "target": "targets"}

SOURCE = "source"
"""In place of an architecture: source packages."""

Fields = dict[str, str]
"""A deb822 stanza; keys in lower case."""


def debian_stanzas(apt: Path, suite: str, architecture: str) -> list[str]:
    """Return deb822 stanzas for `suite`, most likely Debian first, each from one of the sources below `apt`.

    `architecture` is Debian's name of one, or SOURCE. `apt` is the folder of apt's configuration (/etc/apt).
    Raises InputError when it names no Debian release at all.
    """
    found = [fields for fields in _all_sources(apt) if _is_release(fields)]
    if not found:
        raise InputError(
            f"{apt}: no source of a Debian release (main) is configured, so no Debian package can be fetched",
            hint="name a kernel file with kernel.image, or add a Debian source to apt",
        )
    # An addition may lie elsewhere than the release itself, as bookworm-security does.
    own = [fields for fields in _all_sources(apt) if _offers(fields, suite)]
    found = [*sorted(own, key=_unlikely), *sorted(found, key=_unlikely)]
    stanzas = [_stanza(fields, suite, architecture) for fields in found]
    return list(dict.fromkeys(stanzas))


def suites_on_hand(apt: Path, release: str) -> list[str]:
    """Return a Debian release, and the additions to it that the sources below `apt` name: updates, security, backports.

    Those with debug symbols alone are none.
    """
    additions = {
        suite
        for fields in _all_sources(apt)
        for suite in fields.get("suites", "").split()
        if suite.startswith(f"{release}-") and not suite.endswith("-debug") and _offers(fields, suite)
    }
    return [release, *sorted(additions)]


def _all_sources(apt: Path) -> Iterator[Fields]:
    folder = apt / "sources.list.d"
    for path in [apt / "sources.list", *sorted(folder.glob("*.list"))]:
        if path.is_file():
            yield from _one_line_sources(path.read_text(encoding="utf-8", errors="replace"))
    for path in sorted(folder.glob("*.sources")):
        yield from _deb822_sources(path.read_text(encoding="utf-8", errors="replace"))


def _one_line_sources(text: str) -> Iterator[Fields]:
    for line in text.splitlines():
        match = re.fullmatch(r"\s*deb\s+(?:\[(.*?)\]\s+)?(\S+)\s+(\S+)\s*([^#]*)(?:#.*)?", line)
        if match is None:
            continue
        options, uri, suite, components = match.groups()
        fields = {"types": "deb", "uris": uri, "suites": suite, "components": components.strip()}
        for option in shlex.split(options or ""):
            key, _, value = option.partition("=")
            key = key.rstrip("+-").lower()
            fields[_ONE_LINE_NAMES.get(key, key)] = value.replace(",", " ")
        yield fields


def _deb822_sources(text: str) -> Iterator[Fields]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields: Fields = {}
        key = ""
        for line in stanza.splitlines():
            if line[:1].isspace() and key:
                # A key block given in place of a key file: its lines must stay lines.
                fields[key] += "\n" + line
            elif ":" in line:
                key, _, value = line.partition(":")
                key = key.strip().lower()
                fields[key] = value.strip()
        if fields.get("enabled", "yes").lower() not in ("no", "false", "without", "off", "disable"):
            yield fields


def _is_release(fields: Fields) -> bool:
    return any(_offers(fields, suite) for suite in RELEASES)


def _offers(fields: Fields, suite: str) -> bool:
    return (
        "deb" in fields.get("types", "").split()
        and "main" in fields.get("components", "").split()
        and suite in fields.get("suites", "").split()
        and bool(fields.get("uris"))
    )


def _unlikely(fields: Fields) -> tuple[bool, bool]:
    # Others publish for Debian releases too, under the same suite names; the caller reads the Release file to be sure.
    uris = fields["uris"].split()
    return "debian-archive" not in fields.get("signed-by", ""), not any(re.search(r"/debian/?$", uri) for uri in uris)


def _stanza(fields: Fields, suite: str, architecture: str) -> str:
    kept = {key: value for key, value in fields.items() if key not in _REPLACED}
    wanted = {"types": "deb", **kept, "suites": suite, "components": "main"}
    if architecture == SOURCE:
        wanted |= {"types": "deb-src", "targets": "Sources"}
    else:
        wanted |= {"architectures": architecture, "targets": "Packages"}
    return "".join(f"{key.title()}: {value}\n" for key, value in wanted.items())
