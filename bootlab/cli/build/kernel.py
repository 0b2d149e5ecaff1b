"""`bootlab build kernel`: a kernel from source, as a system file or the command line describes it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.boot_files import build_kernel_of
from bootlab.build.kernel.build import build_kernel
from bootlab.build.source.configure import GENERIC_BASES
from bootlab.build.source.toolchain import ARCHITECTURES
from bootlab.build.workshop import Workshop
from bootlab.cli.build import bootloader as build_bootloader
from bootlab.cli.build import image as build_image
from bootlab.cli.build import root as build_root
from bootlab.cli.build.option_names import naming_options
from bootlab.cli.build.words import (
    ConfigFile,
    Fragments,
    OutputFolder,
    Patches,
    build_progress,
    checked_build,
    parse_options,
    refuse_with_file,
)
from bootlab.cli.options.arguments import Json, complete_system, naming, open_cache, open_system
from bootlab.cli.terminal.files import copy_to, expect_folder, inputs_of
from bootlab.cli.terminal.showing import answer
from bootlab.report.build.kernel import kernel_view
from bootlab.system import KernelBuild

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
_OPTIONS = {f"kernel.build.{key}": option for key, option in _WORDS.items()}

app = typer.Typer(
    name="build",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Build what a system boots from, without booting it.",
)
app.command("initramfs")(build_root.initramfs)
app.command("rootfs")(build_root.rootfs)
app.command("bootloader")(build_bootloader.bootloader)
app.command("image")(build_image.image)


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
            metavar="ARCH",
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
    suite: Annotated[str | None, typer.Option("--suite", metavar="SUITE", help="Debian suite of the packages.")] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="NAME",
            help="tinyconfig, defconfig (the default), NAME_defconfig, ...",
            autocompletion=_beginning_with(GENERIC_BASES),
        ),
    ] = None,
    config: ConfigFile = None,
    config_package: Annotated[
        str | None, typer.Option("--config-package", metavar="NAME", help="That of a Debian kernel, instead of a base.")
    ] = None,
    fragment: Fragments = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="One option, as SMP=n. Repeatable.")
    ] = None,
    patch: Patches = None,
    output: OutputFolder = None,
    json: Json = False,
) -> int:
    """Build a kernel from source, or find it in the cache, and say where it is.

    Every option that was asked for is proved to be in the final configuration. What has been built once is built
    again only where a change touches it.
    """
    given = {
        "source": source,
        "package": package,
        "suite": suite,
        "base": base,
        "config": config,
        "config_package": config_package,
        "fragments": tuple(fragment or ()),
        "options": parse_options(set_ or [], "SMP=n"),
        "patches": tuple(patch or ()),
    }
    named = [*(["--arch"] if arch else []), *(_WORDS[name] for name, value in given.items() if value)]
    cache = open_cache()
    if system is not None:
        refuse_with_file(system, named)
        value = open_system(system, rebuilt=True)
        arch = value.machine.arch
        if output is not None:
            expect_folder("--output", output, inputs_of(value, system))
        with naming(system), build_progress(silent=json) as (tell, progress):
            built = build_kernel_of(Workshop(cache, tell=tell, progress=progress), value)
    else:
        arch = arch or ARCHITECTURES[0]
        if output is not None:
            expect_folder("--output", output, [("--source", source), ("--config", config)])
        build = checked_build(KernelBuild, given, _WORDS, "bootlab build kernel")
        with naming_options(_OPTIONS) as worded, build_progress(silent=json) as (tell, progress):
            shop = Workshop(cache, tell=lambda line: tell(worded(line)), progress=progress)
            built = build_kernel(shop, build, arch)
    if output is not None:
        copy_to(output, (built.image, built.vmlinux, built.config, built.system_map), built.modules)
    return answer(kernel_view(built, arch, output), json=json)
