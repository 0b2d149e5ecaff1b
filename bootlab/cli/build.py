"""`bootlab build kernel`: a kernel from source, as a system file or the command line describes it."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bootlab.build.boot_files import build_kernel_of
from bootlab.build.cache import file_sha256
from bootlab.build.kernel_build import BuiltKernel, build_kernel
from bootlab.build.kernel_config import plain_value
from bootlab.build.kernel_configure import GENERIC_BASES
from bootlab.build.toolchain import ARCHITECTURES
from bootlab.cli import build_root
from bootlab.cli.arguments import Json, complete_system, naming, open_cache
from bootlab.cli.terminal import err, out, print_json
from bootlab.errors import InputError, StoreError
from bootlab.system import KernelBuild, read_system
from bootlab.system.kernel import OPTION_NAME
from bootlab.system.value import complaints

SCHEMA = "bootlab.kernel/1"
_LINE_EVERY = 250
_WORDS = {
    "source": "--source",
    "package": "--package",
    "suite": "--suite",
    "base": "--base",
    "config": "--config",
    "config_package": "--config-package",
    "fragments": "--fragment",
    "options": "--set",
    "patches": "--patch",
}
"""Key of [kernel.build] -> what says the same on the command line."""

app = typer.Typer(
    name="build",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Build what a system boots from, without booting it.",
)
app.command("initramfs")(build_root.initramfs)
app.command("rootfs")(build_root.rootfs)


def _beginning_with(words: Iterable[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


@app.command("kernel")
def kernel(
    system: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SYSTEM]",
            help="System file with [kernel.build]; without one the options below say what to build.",
            autocompletion=complete_system,
            show_default=False,
        ),
    ] = None,
    arch: Annotated[
        str | None,
        typer.Option(
            "--arch",
            help=f"{', '.join(ARCHITECTURES)}. [default: {ARCHITECTURES[0]}]",
            autocompletion=_beginning_with(ARCHITECTURES),
        ),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--source", metavar="PATH", help="A kernel tree, or a tarball of one.")
    ] = None,
    package: Annotated[
        str | None, typer.Option("--package", metavar="NAME", help="Debian's kernel source, as linux-source-6.12.")
    ] = None,
    suite: Annotated[str | None, typer.Option("--suite", help="Debian suite of the packages.")] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="NAME",
            help="tinyconfig, defconfig (the default), NAME_defconfig, ...",
            autocompletion=_beginning_with(GENERIC_BASES),
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="A whole configuration, instead of a base.")
    ] = None,
    config_package: Annotated[
        str | None, typer.Option("--config-package", metavar="NAME", help="That of a Debian kernel, instead of a base.")
    ] = None,
    fragment: Annotated[
        list[Path] | None, typer.Option("--fragment", metavar="FILE", help="Options on top of it. Repeatable.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="One option, as SMP=n. Repeatable.")
    ] = None,
    patch: Annotated[
        list[Path] | None, typer.Option("--patch", metavar="FILE", help="A patch (-p1), in order. Repeatable.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Copy what was built there.")
    ] = None,
    json: Json = False,
) -> int:
    """Build a kernel from source, or find it in the cache, and say where it is.

    Every option that was asked for is proved to be in the final configuration. What has been built once is built
    again only where a change touches it.
    """
    if output is not None and output.exists() and not output.is_dir():
        raise InputError(f"--output {output}: a file is there, and a kernel is several", hint="name a folder")
    given = {
        "source": source,
        "package": package,
        "suite": suite,
        "base": base,
        "config": config,
        "config_package": config_package,
        "fragments": tuple(fragment or ()),
        "options": _options(set_ or []),
        "patches": tuple(patch or ()),
    }
    named = [*(["--arch"] if arch else []), *(_WORDS[name] for name, value in given.items() if value)]
    cache = open_cache()
    if system is not None:
        if named:
            raise InputError(
                f"{system} says what to build: {', '.join(named)} cannot be given with it",
                hint="change the file, or leave it out and give everything on the command line",
            )
        value = read_system(system)
        arch = value.machine.arch
        with naming(system), _progress(silent=json) as (tell, progress):
            built = build_kernel_of(value, cache, tell=tell, progress=progress)
    else:
        arch = arch or ARCHITECTURES[0]
        build = _kernel_build(given)
        with _naming_words(), _progress(silent=json) as (tell, progress):
            built = build_kernel(build, arch, cache, tell=tell, progress=progress)
    if output is not None:
        _copy(built, output)
    document = _document(built, arch, output)
    if json:
        print_json(document)
    else:
        _print(document)
    return 0


@contextmanager
def _naming_words() -> Iterator[None]:
    """Put words of the command line in place of the keys that an error below names."""
    try:
        yield
    except InputError as error:
        options = re.sub(r"kernel\.build\.options\.", "--set ", error.message)
        message = re.sub(r"kernel\.build\.(\w+)(?:\[\d+\])?(?=:)", lambda found: _WORDS[found[1]], options)
        hint = error.hint and error.hint.replace("kernel.build.options overrules", "--set overrules")
        raise InputError(message, hint=hint) from error


def _options(words: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(f"--set {word}: expected NAME=VALUE", hint="for example --set SMP=n --set HZ_100=y")
        name = name.removeprefix("CONFIG_")
        if not re.fullmatch(OPTION_NAME, name):
            raise InputError(f"--set {word}: {name!r} is no option's name", hint="for example --set SMP=n")
        value = plain_value(value)
        if options.setdefault(name, value) != value:
            raise InputError(f"--set {name}: asked for as {options[name]} and as {value}", hint="give it once")
    return options


def _kernel_build(given: dict[str, Any]) -> KernelBuild:
    paths = [("source", given["source"]), ("config", given["config"])]
    paths += [(name, path) for name in ("fragments", "patches") for path in given[name]]
    missing = [f"{_WORDS[name]} {path}" for name, path in paths if path is not None and not path.exists()]
    if missing:
        raise InputError(f"{', '.join(missing)}: no such file")
    try:
        return KernelBuild.model_validate(given)
    except ValidationError as error:
        lines = [line.removeprefix("(whole file): ") for line in complaints(error)]
        lines = [re.sub(r"^(\w+)(?=[:.\[])", lambda found: _WORDS.get(found[1], found[1]), line) for line in lines]
        raise InputError("\n".join(lines), hint="bootlab build kernel --help, or a system file") from error


def _document(built: BuiltKernel, arch: str, output: Path | None) -> dict[str, Any]:
    values = list(built.options.values())
    place = built.image.parent if output is None else output
    return {
        "schema": SCHEMA,
        "arch": arch,
        "release": built.release,
        "image": str(place / built.image.name),
        "bytes": built.image.stat().st_size,
        "sha256": file_sha256(built.image),
        "vmlinux": str(place / "vmlinux"),
        "config": str(place / "config"),
        "system_map": str(place / "System.map"),
        "modules": str(place / "modules"),
        "log": str(built.log),
        "options_on": values.count("y"),
        "options_as_modules": values.count("m"),
        "build_s": built.seconds,
        "from_cache": built.from_cache,
    }


def _print(document: dict[str, Any]) -> None:
    took = f"{document['build_s']:g} s"
    when = f"from the cache; its build took {took}" if document["from_cache"] else f"built in {took}"
    modules = f", {document['options_as_modules']} as modules" if document["options_as_modules"] else ""
    lines = [
        f"Linux {document['release']} for {document['arch']}, {when}",
        f"image    {document['image']}",
        f"         {document['bytes']:,} bytes, sha256 {document['sha256'][:12]}",
        f"vmlinux  {document['vmlinux']}",
        f"config   {document['config']}",
        f"         {document['options_on']} options on{modules}",
    ]
    out.print("\n".join(lines), soft_wrap=True)


def _copy(built: BuiltKernel, output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
        for path in (built.image, built.vmlinux, built.config, built.system_map):
            shutil.copyfile(path, output / path.name)
        shutil.copytree(built.modules, output / "modules", dirs_exist_ok=True)
    except OSError as error:
        raise StoreError(f"--output: {error.filename or output}: {error.strerror or error}") from error


@contextmanager
def _progress(*, silent: bool) -> Iterator[tuple[Callable[[str], None], Callable[[int, str], None]]]:
    shown = Progress(
        SpinnerColumn(),
        TextColumn("{task.completed} files"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=err,
        transient=True,
        disable=silent or not err.is_terminal,
    )
    with shown:
        task = shown.add_task("", total=None)

        def tell(line: str) -> None:
            if not silent:
                err.print(f"  {line}", soft_wrap=True)

        def progress(done: int, last: str) -> None:
            shown.update(task, completed=done, description=last[-50:])
            if not err.is_terminal and done % _LINE_EVERY == 0:
                tell(f"compiled {done} files")

        yield tell, progress
