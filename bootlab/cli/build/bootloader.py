"""`bootlab build bootloader`: U-Boot from source, as a system file or the command line describes it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bootlab.build.board.bootloader import build_bootloader
from bootlab.build.boot_files import build_bootloader_of
from bootlab.build.workshop import Workshop
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
from bootlab.errors import InputError
from bootlab.report.build.bootloader import bootloader_view
from bootlab.system import BOARDS, Bootloader

_BOARDS = {kind.value: (board, arch) for (kind, arch), board in BOARDS.items()}
_DEFAULT_BOARD = next(iter(_BOARDS))
_BOARD_NAMES = ", ".join(f"{name} ({arch})" for name, (_, arch) in _BOARDS.items())
_WORDS = {
    "source": "--source",
    "package": "--package",
    "suite": "--suite",
    "base": "--base",
    "config": "--config",
    "fragments": "--fragment",
    "options": "--set",
    "patches": "--patch",
    "falcon": "--falcon",
    "opensbi": "--opensbi",
}
"""Key of [bootloader] -> what says the same on the command line."""
_OPTIONS = {f"{Bootloader.key}.{key}": option for key, option in _WORDS.items()}


def bootloader(
    system: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SYSTEM]",
            help="System file with [bootloader]; without one the options below say what to build.",
            autocompletion=complete_system,
            show_default=False,
        ),
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(
            "--board",
            metavar="NAME",
            help=f"{_BOARD_NAMES}. [default: {_DEFAULT_BOARD}]",
            autocompletion=lambda: list(_BOARDS),
        ),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--source", metavar="PATH", help="A tree of U-Boot, or a tarball of one.")
    ] = None,
    package: Annotated[
        str | None, typer.Option("--package", metavar="NAME", help="Debian's source package: u-boot.")
    ] = None,
    suite: Annotated[str | None, typer.Option("--suite", metavar="SUITE", help="Debian suite of the package.")] = None,
    base: Annotated[
        str | None, typer.Option("--base", metavar="NAME", help="NAME_defconfig. [default: the board's own]")
    ] = None,
    config: ConfigFile = None,
    fragment: Fragments = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="One option, as BOOTDELAY=0. Repeatable.")
    ] = None,
    patch: Patches = None,
    falcon: Annotated[bool, typer.Option("--falcon", help="SPL loads the kernel itself (Falcon mode).")] = False,
    opensbi: Annotated[
        Path | None,
        typer.Option(
            "--opensbi", metavar="FILE", help="fw_dynamic.bin, for riscv64. [default: that of Debian's package opensbi]"
        ),
    ] = None,
    output: OutputFolder = None,
    json: Json = False,
) -> int:
    """Build U-Boot from source, or find it in the cache, and say where it is.

    Every option that was asked for is proved to be in the final configuration; an SPL that is too large for the board
    is an error that says by how much.
    """
    given: dict[str, Any] = {
        "source": source,
        "package": package,
        "suite": suite,
        "base": base,
        "config": config,
        "fragments": tuple(fragment or ()),
        "options": parse_options(set_ or [], "BOOTDELAY=0"),
        "patches": tuple(patch or ()),
        "falcon": falcon,
        "opensbi": opensbi,
    }
    cache = open_cache()
    if system is not None:
        refuse_with_file(system, [*(["--board"] if board else []), *(_WORDS[key] for key, one in given.items() if one)])
        value = open_system(system)
        if output is not None:
            expect_folder("--output", output, inputs_of(value, system), what="bootloader")
        with naming(system), build_progress(silent=json) as (tell, progress):
            built = build_bootloader_of(Workshop(cache, tell=tell, progress=progress), value)
    else:
        if board is not None and board not in _BOARDS:
            raise InputError(f"--board {board}: not known", hint=f"there is {' and '.join(_BOARDS)}")
        if output is not None:
            expect_folder("--output", output, [("--source", source), ("--config", config)], what="bootloader")
        facts, arch = _BOARDS[board or _DEFAULT_BOARD]
        build = checked_build(Bootloader, given, _WORDS, "bootlab build bootloader")
        with naming_options(_OPTIONS) as worded, build_progress(silent=json) as (tell, progress):
            shop = Workshop(cache, tell=lambda line: tell(worded(line)), progress=progress)
            built = build_bootloader(shop, build, facts, arch)
    if output is not None:
        opensbi_image = () if built.opensbi is None else (built.opensbi,)
        copy_to(output, (built.image, built.spl, built.spl_image, built.uboot, *opensbi_image, built.config))
    return answer(bootloader_view(built, output), json=json)
