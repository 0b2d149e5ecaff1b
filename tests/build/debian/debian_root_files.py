"""The files of a small Debian root as dpkg leaves it: packages with their lists, and /bin a link to usr/bin."""

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bootlab.build.formats.cpio import Entry


@dataclass(frozen=True)
class Installed:
    """One package: its files, and further lines of its stanza."""

    files: Sequence[str] = ()
    lines: Sequence[str] = ()
    state: str = "install ok installed"
    architecture: str = "amd64"
    listed: str = ""
    """What its list is called, where that is not its name."""


@dataclass
class DebianRootFiles:
    """`contents`: path -> bytes of files that are to have some; every listed path gets a file of its own otherwise."""

    packages: Mapping[str, Installed]
    contents: Mapping[str, bytes] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    diversions: str = ""
    status: bytes | None = None

    def entries(self) -> list[Entry]:
        found = {"bin": _link("bin", "usr/bin"), "lib": _link("lib", "usr/lib"), "sbin": _link("sbin", "usr/sbin")}
        for name, package in self.packages.items():
            for path in package.files:
                place = _merged(path)
                found[place] = Entry(place, stat.S_IFREG | 0o755, self.contents.get(place, place.encode()))
            listing = "".join(f"{path}\n" for path in ["/.", "/usr", *package.files])
            info = f"var/lib/dpkg/info/{package.listed or name}.list"
            found[info] = Entry(info, stat.S_IFREG | 0o644, listing.encode(errors="surrogateescape"))
        for path, data in self.contents.items():
            found[path] = Entry(path, stat.S_IFREG | 0o755, data)
        for path, target in self.links.items():
            found[path] = _link(path, target)
        for path, data in {
            "var/lib/dpkg/status": self.text() if self.status is None else self.status,
            "var/lib/dpkg/diversions": self.diversions.encode(),
        }.items():
            found[path] = Entry(path, stat.S_IFREG | 0o644, data)
        for path in ("usr", "usr/bin", "usr/sbin", "usr/lib"):
            found[path] = Entry(path, stat.S_IFDIR | 0o755)
        return list(found.values())

    def text(self) -> bytes:
        stanzas = []
        for name, package in self.packages.items():
            first = [f"Package: {name.partition(':')[0]}", f"Status: {package.state}", "Version: 1.0-1"]
            stanzas.append("\n".join([*first, f"Architecture: {package.architecture}", *package.lines, ""]))
        return "\n".join(stanzas).encode()


def _merged(path: str) -> str:
    inside = path.lstrip("/")
    return f"usr/{inside}" if inside.startswith(("bin/", "lib/", "sbin/")) else inside


def _link(path: str, target: str) -> Entry:
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())
