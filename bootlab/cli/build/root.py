"""`bootlab build initramfs` and `bootlab build rootfs`: what a system file, or the command line, describes."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from bootlab.build.boot_files import build_root_of
from bootlab.build.debian import packages
from bootlab.build.root.images import Around, BuiltRoot, Recipe, build_root
from bootlab.build.workshop import Workshop
from bootlab.cli.build.option_names import made_of_options, naming_options
from bootlab.cli.options.arguments import Json, complete_system, naming, open_cache, open_system
from bootlab.cli.terminal.files import copy_as, expect_file, inputs_of
from bootlab.cli.terminal.showing import answer
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError
from bootlab.report.build.root import root_view
from bootlab.system import Compression, FileSystem, Initramfs, Rootfs

_WORDS = {
    "packages": "--packages",
    "scripts": "--scripts",
    "suite": "--suite",
    "directory": "--directory",
    "init": "--init",
    "files": "--file",
    "busybox": "--no-busybox",
    "modules": "--modules",
    "without": "--without",
    "compression": "--compression",
    "filesystem": "--filesystem",
    "size_mib": "--size-mib",
    "journal": "--no-journal",
}
"""Key of a recipe -> what says the same on the command line."""
_EXAMPLES = {"initramfs": "initramfs.cpio", "rootfs": "root.img"}
_ARCHITECTURES = tuple(packages.ARCHITECTURES)
_Tell = Callable[[str], None]
_Progress = Callable[[int, str], None]
RecipeT = TypeVar("RecipeT", Initramfs, Rootfs)

_System = Annotated[
    Path | None,
    typer.Argument(
        metavar="[SYSTEM]",
        help="System file; without one the options below say what to build.",
        autocompletion=complete_system,
        show_default=False,
    ),
]
_Arch = Annotated[
    str, typer.Option("--arch", metavar="ARCH", help=f"Of programs and packages: {', '.join(_ARCHITECTURES)}.")
]
_Packages = Annotated[
    list[str] | None,
    typer.Option("--packages", metavar="A,B", help="Debian packages and all they depend on. Repeatable."),
]
_Scripts = Annotated[
    bool, typer.Option("--scripts", help="Install the packages with mmdebstrap, which runs their scripts.")
]
_Suite = Annotated[
    str | None,
    typer.Option("--suite", metavar="SUITE", help="Debian suite of packages and busybox. [default: this machine's]"),
]
_Directory = Annotated[
    Path | None, typer.Option("--directory", metavar="DIR", help="A folder that becomes the root, over the packages.")
]
_Init = Annotated[
    Path | None, typer.Option("--init", metavar="FILE", help="Becomes /init; a .c or .go file is compiled, static.")
]
_Files = Annotated[
    list[str] | None,
    typer.Option("--file", metavar="PATH=FILE", help="A file of this machine under a path of the guest. Repeatable."),
]
_Busybox = Annotated[
    bool, typer.Option("--busybox/--no-busybox", help="Debian's static busybox, and links to it in /bin.")
]
_Modules = Annotated[
    list[str] | None,
    typer.Option("--modules", metavar="A,B", help="Kernel modules with what they need; * is every one. Repeatable."),
]
_Kernel = Annotated[
    str | None, typer.Option("--kernel", metavar="NAME", help="Debian kernel package that --modules come from.")
]
_Without = Annotated[
    list[str] | None, typer.Option("--without", metavar="PATH", help="Leave this path out at last. Repeatable.")
]
_Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Copy what was built there.")]


def initramfs(
    system: _System = None,
    arch: _Arch = "x86_64",
    packages_: _Packages = None,
    scripts: _Scripts = False,
    suite: _Suite = None,
    directory: _Directory = None,
    init: _Init = None,
    file: _Files = None,
    busybox: _Busybox = True,
    modules: _Modules = None,
    kernel: _Kernel = None,
    without: _Without = None,
    compression: Annotated[
        str | None, typer.Option("--compression", metavar="NAME", help=f"{', '.join(Compression)}. [default: gzip]")
    ] = None,
    output: _Output = None,
    json: Json = False,
) -> int:
    """Build an initramfs, a newc archive, or find it in the cache, and say where it is.

    The same files give the same bytes, on any machine and at any time. One that a system embeds in its kernel is
    left uncompressed.
    """
    content = _Content(packages_, scripts, suite, directory, init, file, busybox, modules, without)
    return _build(Initramfs, content.given | {"compression": compression}, _Request(system, arch, kernel, output, json))


def rootfs(
    system: _System = None,
    arch: _Arch = "x86_64",
    packages_: _Packages = None,
    scripts: _Scripts = False,
    suite: _Suite = None,
    directory: _Directory = None,
    init: _Init = None,
    file: _Files = None,
    busybox: _Busybox = True,
    modules: _Modules = None,
    kernel: _Kernel = None,
    without: _Without = None,
    filesystem: Annotated[
        str | None, typer.Option("--filesystem", metavar="NAME", help=f"{', '.join(FileSystem)}. [default: ext4]")
    ] = None,
    compression: Annotated[
        str | None,
        typer.Option(
            "--compression", metavar="NAME", help=f"Of squashfs and erofs: {', '.join(Compression)}. [default: none]"
        ),
    ] = None,
    size_mib: Annotated[
        int | None,
        typer.Option("--size-mib", min=1, metavar="MIB", help="Of ext4. [default: what fits, and a quarter more]"),
    ] = None,
    journal: Annotated[bool, typer.Option("--journal/--no-journal", help="Of ext4.")] = True,
    output: _Output = None,
    json: Json = False,
) -> int:
    """Build a root file system image, or find it in the cache, and say where it is. Nobody need be root.

    The same files give the same bytes, on any machine and at any time. --packages unpacks Debian packages; only with
    --scripts are they installed, so that users, caches and alternatives are there.
    """
    content = _Content(packages_, scripts, suite, directory, init, file, busybox, modules, without)
    given = {**content.given, "filesystem": filesystem, "compression": compression, "size_mib": size_mib}
    request = _Request(system, arch, kernel, output, json)
    return _build(Rootfs, given | {"journal": None if journal else False}, request)


@dataclass(frozen=True, slots=True)
class _Content:
    """What the options say of the files, of an archive as of an image."""

    packages: list[str] | None
    scripts: bool
    suite: str | None
    directory: Path | None
    init: Path | None
    files: list[str] | None
    busybox: bool
    modules: list[str] | None
    without: list[str] | None

    @property
    def given(self) -> dict[str, Any]:
        """Return it by the keys of a recipe. Raises InputError."""
        return {
            "packages": _listed(self.packages),
            "scripts": self.scripts or None,
            "suite": self.suite,
            "directory": self.directory,
            "init": self.init,
            "files": _files(self.files or []),
            "busybox": None if self.busybox else False,
            "modules": _listed(self.modules),
            "without": tuple(self.without or ()),
        }


@dataclass(frozen=True, slots=True)
class _Request:
    """What the options say besides: from which system file or for what, and where the result goes."""

    system: Path | None
    arch: str
    kernel: str | None
    output: Path | None
    json: bool


def _build(kind: type[RecipeT], given: dict[str, Any], request: _Request) -> int:
    part = kind.__name__.lower()
    given = {name: value for name, value in given.items() if value or value is False}
    system, arch, output = request.system, request.arch, request.output
    cache = open_cache()
    if system is not None:
        named = [_WORDS[name] for name in given] + ["--kernel"] * bool(request.kernel)
        if named:
            raise InputError(
                f"{system} says what to build: {', '.join(named)} cannot be given with it",
                hint="change the file, or leave it out and give everything on the command line",
            )
        value = open_system(system)
        arch = value.machine.arch
        if output is not None:
            expect_file("--output", output, inputs_of(value, system), example=_EXAMPLES[part])
        with naming(system), _progress(silent=request.json) as (tell, progress):
            built = build_root_of(Workshop(cache, tell=tell, progress=progress), value, part)
        recipe = getattr(value, part)
    else:
        if output is not None:
            expect_file("--output", output, _inputs(given), example=_EXAMPLES[part])
        with naming_options(_options(part)) as worded, _progress(silent=request.json) as (tell, progress):
            recipe = _recipe(kind, given)
            shop = Workshop(cache, tell=lambda line: tell(worded(line)), progress=progress)
            built = _build_given(shop, recipe, arch, request.kernel)
    if output is not None:
        copy_as(output, built.path)
    return answer(root_view(recipe, arch, built, output), json=request.json)


def _build_given(shop: Workshop, recipe: Recipe, arch: str, kernel: str | None) -> BuiltRoot:
    if arch not in _ARCHITECTURES:
        raise InputError(f"--arch {arch}: not known", hint=f"there is {', '.join(_ARCHITECTURES)}")
    tree = None
    if recipe.modules:
        if kernel is None:
            raise InputError("--modules: of which kernel?", hint="--kernel linux-image-cloud-amd64, for example")
        tree = packages.fetch(shop, kernel, recipe.suite, arch).tree
    return build_root(shop, recipe, arch, Around(recipe.suite, tree))


def _recipe(kind: type[RecipeT], given: dict[str, Any]) -> RecipeT:
    part = kind.__name__.lower()
    if not given.keys() & {"packages", "directory", "init", "files"}:
        said = (
            f"{', '.join(_WORDS[name] for name in given)} alone does not say"
            if given
            else "neither a system file nor an option says"
        )
        raise InputError(
            f"what is to be in the {part}? {said}",
            hint=f"bootlab build {part} SYSTEM, or --init, --packages, --directory: bootlab build {part} --help",
        )
    paths = [("--init", given.get("init"))]
    paths += [(f"--file {name}", path) for name, path in given.get("files", {}).items()]
    if missing := [f"{option} {path}" for option, path in paths if path is not None and not os.path.isfile(path)]:
        raise InputError(f"{', '.join(missing)}: no such file")
    if (folder := given.get("directory")) is not None and not os.path.isdir(folder):
        raise InputError(f"--directory {folder}: no such folder")
    return made_of_options(kind, given, _WORDS, f"bootlab build {part}")


def _inputs(given: dict[str, Any]) -> list[tuple[str, Path | None]]:
    named = [(_WORDS[key], given.get(key)) for key in ("directory", "init")]
    return [*named, *((f"--file {name}", path) for name, path in given.get("files", {}).items())]


def _options(part: str) -> dict[str, str]:
    return {f"{part}.{key}": option for key, option in _WORDS.items()} | {
        "kernel.suite": "--suite",
        "kernel.package": "--kernel",
    }


def _listed(words: list[str] | None) -> tuple[str, ...]:
    return tuple(name for word in words or () for name in re.split(r"[\s,]+", word) if name)


def _files(words: list[str]) -> dict[str, Path]:
    files = {}
    for word in words:
        path, equals, file = word.partition("=")
        if not path or not equals or not file:
            raise InputError(f"--file {word}: expected PATH=FILE", hint="for example --file /etc/motd=motd")
        files[path] = Path(file)
    return files


@contextmanager
def _progress(*, silent: bool) -> Iterator[tuple[_Tell, _Progress]]:
    if silent:
        yield (lambda line: None), (lambda done, last: None)
        return
    # A spinner on a terminal; elsewhere the lines alone.
    with err.status("building") as status:

        def tell(line: str) -> None:
            err.print(f"  {line}", soft_wrap=True)
            status.update(line)

        yield tell, lambda done, last: status.update(f"compiled {done} files of the kernel")
