"""Which package each file of a root came from, as Buildroot and Yocto note it, and how each leaves a package out.

Buildroot: build/packages-file-list.txt (`busybox,./bin/ls`). Yocto: FILES_INFO of tmp/pkgdata/MACHINE/runtime/*.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.outputs.assignments import read_small
from bootlab.build.outputs.output import BuildOutput, BuildTool
from bootlab.errors import InputError

_LIST: Final = "packages-file-list.txt"
_FILES: Final = re.compile(r"^FILES_INFO(?::[^:\s]+)?: (\{.*\})$", re.MULTILINE)
_MANIFEST_LINE: Final = re.compile(r"^(\S+) \S+ \S+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PackageFiles:
    """Package -> the files that it put into the root, each absolute."""

    tool: BuildTool
    files: Mapping[str, frozenset[str]]
    kept: frozenset[str] = frozenset()
    """Packages that have no switch of their own: a C library, the skeleton."""

    @property
    def name(self) -> str:
        """What the list is called that leaves packages out."""
        return "packages.config" if self.tool is BuildTool.BUILDROOT else "packages.conf"

    def leave_out(self, packages: Iterable[str]) -> str:
        """Return the text that leaves packages out: lines for Buildroot's .config, or for Yocto's local.conf."""
        names = sorted(packages)
        if self.tool is BuildTool.BUILDROOT:
            return "".join(f"# {_switch(name)} is not set\n" for name in names)
        return (
            f'IMAGE_INSTALL:remove = "{" ".join(names)}"\nBAD_RECOMMENDATIONS += "{" ".join(names)}"\n' if names else ""
        )


def read_package_files(output: BuildOutput) -> PackageFiles | None:
    """Return which package each file came from; None where the build keeps no such list (any more)."""
    if output.tool is BuildTool.BUILDROOT:
        return _buildroot(output)
    return _yocto(output) if output.tool is BuildTool.YOCTO else None


def _buildroot(output: BuildOutput) -> PackageFiles | None:
    path = output.folder.parent / "build" / _LIST
    if not path.is_file():
        return None
    files: dict[str, set[str]] = {}
    for line in read_small(path).splitlines():
        package, comma, name = line.partition(",")
        if comma:
            files.setdefault(package, set()).add("/" + name.removeprefix("./").lstrip("/"))
    kept = frozenset(name for name in files if output.settings.get(_switch(name)) != "y")
    return PackageFiles(output.tool, {name: frozenset(one) for name, one in files.items()}, kept)


def _yocto(output: BuildOutput) -> PackageFiles | None:
    # TMPDIR/deploy/images/MACHINE -> TMPDIR/pkgdata/MACHINE/runtime.
    folder = output.folder.parent.parent.parent / "pkgdata" / output.folder.name / "runtime"
    manifest = output.folder / f"{output.name}.manifest"
    if not folder.is_dir() or not manifest.is_file():
        return None
    files: dict[str, frozenset[str]] = {}
    for package in _MANIFEST_LINE.findall(read_small(manifest)):
        path = folder / Path(package).name
        found = _FILES.search(read_small(path)) if path.is_file() else None
        if found is None:
            continue
        try:
            names = json.loads(found[1])
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: FILES_INFO is not JSON: {error}") from error
        files[package] = frozenset(str(name) for name in names)
    return PackageFiles(output.tool, files)


def _switch(package: str) -> str:
    return f"BR2_PACKAGE_{package.upper().replace('-', '_').replace('.', '_')}"
