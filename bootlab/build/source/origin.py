"""The source that something is built from: a tree in place, a tarball, or a Debian package; patched.

What is unpacked or patched is an entry of the cache. A tree of the user's is built from where it is and never written
to: all that a build makes goes elsewhere (`make O=`).
"""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import file_sha256
from bootlab.build.debian import packages
from bootlab.build.debian.source_package import fetch_upstream
from bootlab.build.source import tree_content as kernel_tree
from bootlab.build.source.tree_content import Listing
from bootlab.build.workshop import Tell, Workshop
from bootlab.errors import BootlabError, InputError
from bootlab.process import ProgramFailed, run
from bootlab.system import KernelBuild, SourceOrigin

_FORMAT = 1
_UNPACK_DEADLINE_S = 900.0
_PATCH_DEADLINE_S = 120.0
_LANDMARKS = {
    "Linux": ("Makefile", "Kconfig", "scripts/kconfig/Makefile", "init/main.c", "arch"),
    "U-Boot": ("Makefile", "Kconfig", "scripts/kconfig/Makefile", "common/spl/Kconfig", "arch", "configs"),
    "EDK II": ("BaseTools", "edksetup.sh", "MdePkg", "OvmfPkg/OvmfPkgX64.dsc"),
}
_TREE = {"Linux": "the Linux kernel", "U-Boot": "U-Boot", "EDK II": "EDK II"}
_BUILT_IN_PLACE = (".config", "include/config", "include/generated")
_COMPRESSORS = {
    ".xz": ("xz", "xz-utils"),
    ".gz": ("gzip", "gzip"),
    ".bz2": ("bzip2", "bzip2"),
    ".zst": ("zstd", "zstd"),
}
_TARBALL = re.compile(r"\.(tar|tar\.(xz|gz|bz2|zst)|tgz|txz)$")
_PATCHED = re.compile(r"^patching file '?([^'\n]+?)'?$")
_HUNK = re.compile(r"^Hunk #\d+ (FAILED|NOT MERGED)")
_VERSION_LINE = re.compile(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *=[ \t]*(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The source tree of a kernel, a bootloader or firmware, only ever read."""

    tree: Path
    identity: str
    """Changes with any file of it; the same for the same files elsewhere."""
    version: str
    """As its Makefile says, for example `6.12.107`; empty where it has none."""
    in_place: Listing | None = None
    """What it was made of, for a tree of the user's, who may change it any time."""
    of: type[SourceOrigin] = KernelBuild
    """What it is a tree of."""


def require_source(shop: Workshop, build: SourceOrigin) -> SourceTree:
    """Return the patched source that `build` names, unpacked into the cache unless it is a tree without patches.

    Raises InputError (no such source, built in place, a patch that does not apply), MissingTool, StoreError,
    Unreachable.
    """
    if build.package is not None:
        is_kernel = isinstance(build, KernelBuild)
        tarball, identity = _packaged(shop, build.package, build.suite) if is_kernel else _source_package(shop, build)
    else:
        assert build.source is not None  # the system's own check: one of the two
        if build.source.is_dir():
            return _tree(shop, build, build.source)
        tarball = build.source
        identity = _tarball_identity(build, tarball)
    patches = _patches(build)
    key = " ".join([str(_FORMAT), identity, *(patch.sha256 for patch in patches)])

    def unpack(out: Path) -> None:
        shop.tell(f"unpacking {tarball.name}")
        _unpack(build, tarball, out)
        _expect_project(build, out, tarball)
        _apply(patches, out, shop.tell)

    tree = shop.cache.make("kernel-source", key, unpack)
    return _found(build, tree, key)


def _found(build: SourceOrigin, tree: Path, identity: str, in_place: Listing | None = None) -> SourceTree:
    return SourceTree(tree, identity, _version(tree), in_place, type(build))


@dataclass(frozen=True, slots=True)
class _Patch:
    path: Path
    key: str
    sha256: str


def _patches(build: SourceOrigin) -> list[_Patch]:
    read = []
    for index, path in enumerate(build.patches):
        key = f"{build.key}.patches[{index}]"
        try:
            read.append(_Patch(path, key, file_sha256(path)))
        except OSError as error:
            raise InputError(f"{key}: {path}: {error.strerror}") from error
    return read


def _packaged(shop: Workshop, name: str, suite: str | None) -> tuple[Path, str]:
    # The package is for every architecture, so any of them will do to ask the archive with.
    package = packages.fetch(shop, name, suite, "x86_64", key="kernel.build.package")
    for note in package.notes:
        shop.tell(note)
    found = [path for path in sorted(package.tree.glob("usr/src/*.tar*")) if _TARBALL.search(path.name)]
    if len(found) != 1:
        raise InputError(
            f'kernel.build.package: "{name}" holds {len(found)} tarballs of kernel source, expected one',
            hint="Debian's are named linux-source-6.12 and the like; linux-source is the release's own",
        )
    return found[0], f"deb {package.sha256}"


def _source_package(shop: Workshop, build: SourceOrigin) -> tuple[Path, str]:
    assert build.package is not None
    package = fetch_upstream(shop, build.package, build.suite, key=f"{build.key}.package")
    for note in package.notes:
        shop.tell(note)
    found = [path for path in sorted(package.tree.iterdir()) if _TARBALL.search(path.name)]
    if len(found) != 1:
        raise InputError(f'{build.key}.package: "{build.package}" has {len(found)} upstream tarballs, expected one')
    return found[0], f"deb-src {package.sha256}"


def _tarball_identity(build: SourceOrigin, path: Path) -> str:
    if not _TARBALL.search(path.name):
        raise InputError(
            f"{build.key}.source: {path}: neither a {build.what} tree nor a tarball of one",
            hint="a folder, or a file named .tar, .tar.xz, .tar.gz, .tar.bz2 or .tar.zst",
        )
    try:
        return f"tarball {file_sha256(path)}"
    except OSError as error:
        raise InputError(f"{build.key}.source: {path}: {error.strerror}") from error


def _tree(shop: Workshop, build: SourceOrigin, source: Path) -> SourceTree:
    tree = source.resolve()
    _expect_project(build, tree, source)
    for name in _BUILT_IN_PLACE:
        if (tree / name).exists():
            raise InputError(
                f"{build.key}.source: {source}: was configured or built in place (it has {name}), so make refuses "
                "to build it elsewhere",
                hint=f"make -C {source} mrproper cleans it, and deletes its .config: keep a copy",
            )
    listing = kernel_tree.list_tree(tree, build.key)
    identity = f"tree {kernel_tree.identity(listing, shop.cache)}"
    if not build.patches:
        return _found(build, tree, f"{_FORMAT} {identity}", listing)
    read = _patches(build)
    key = " ".join([str(_FORMAT), identity, *(patch.sha256 for patch in read)])

    def copy(out: Path) -> None:
        shop.tell(f"copying {source}, to patch it")
        shutil.copytree(tree, out, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        _apply(read, out, shop.tell)

    return _found(build, shop.cache.make("kernel-source", key, copy), key)


def _unpack(build: SourceOrigin, tarball: Path, out: Path) -> None:
    out.mkdir()
    words: list[str | Path] = ["tar", "--extract", "--no-same-owner", "--strip-components=1", "--file", tarball]
    program = _COMPRESSORS.get(tarball.suffix)
    if program is not None:
        words.append(f"--use-compress-program={program[0]}")
    try:
        run([*words, "--directory", out], deadline_s=_UNPACK_DEADLINE_S, package="tar")
    except ProgramFailed as error:
        if "No space left on device" in error.stderr:
            raise
        raise InputError(f"{build.key}.source: {tarball}: cannot be unpacked\n  {error.message}") from error


def _expect_project(build: SourceOrigin, tree: Path, named: Path) -> None:
    absent = [name for name in _LANDMARKS[build.project] if not (tree / name).exists()]
    if absent:
        raise InputError(
            f"{build.key}.source: {named}: not a tree of {_TREE[build.project]}: it has no {', '.join(absent)}",
            hint="the folder that holds the topmost Makefile, or a tarball with one such folder in it",
        )


def _apply(patches: Sequence[_Patch], tree: Path, tell: Tell) -> None:
    for patch in patches:
        tell(f"applying {patch.path.name}")
        words: list[str | Path] = ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch"]
        try:
            run(
                [*words, "--reject-file=-", "--directory", tree, "--input", patch.path.absolute()],
                deadline_s=_PATCH_DEADLINE_S,
                package="patch",
            )
        except ProgramFailed as error:
            if "No space left on device" in error.stderr + error.stdout:
                raise
            raise _refused(patch, error) from error


def _refused(patch: _Patch, error: ProgramFailed) -> BootlabError:
    file, failed = "", []
    for line in error.stdout.splitlines():
        if found := _PATCHED.match(line):
            file = found[1]
        elif _HUNK.match(line) or line.startswith("can't find file to patch"):
            failed.append(f"{file}: {line}" if file and _HUNK.match(line) else line)
        elif line.startswith(("Reversed (or previously applied) patch detected", "patch: ****")):
            failed.append(f"{file}: {line}" if file else line)
    failed = failed or (error.stdout + error.stderr).strip().splitlines()[-5:]
    return InputError(
        "\n  ".join([f"{patch.key}: {patch.path}: does not apply to this source", *failed]),
        hint="patches are applied in order with -p1; is it for this version of the source?",
    )


def _version(tree: Path) -> str:
    if not (tree / "Makefile").is_file():
        return ""
    text = (tree / "Makefile").read_text(encoding="utf-8", errors="replace")
    parts = {found[1]: found[2] for found in reversed(list(_VERSION_LINE.finditer(text)))}
    numbers = [parts.get(name, "").strip() for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return ".".join(number for number in numbers if number) + parts.get("EXTRAVERSION", "").strip()
