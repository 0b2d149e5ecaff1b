"""`bootlab build image`: a disk image of Debian that boots by BIOS and by UEFI, made of packages."""

import re
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.image.image_file import QCOW2, RAW
from bootlab.build.image.make import expect_disk_for, grow_disk, make_image
from bootlab.build.image.recipe import ImageRecipe, Loader
from bootlab.build.workshop import Workshop
from bootlab.cli.build.words import build_progress
from bootlab.cli.options.arguments import Json, open_cache
from bootlab.cli.terminal.files import copy_as, expect_file
from bootlab.cli.terminal.showing import answer
from bootlab.errors import InputError
from bootlab.report.build.image import image_view

_LONGEST_MENU_S = 3600
_LARGEST_DISK_MIB = 1 << 20
_MIB = 1 << 20


def _one_of(option: str, given: str, known: tuple[str, ...]) -> str:
    if given not in known:
        raise InputError(f"{option} {given}: not known", hint=f"there is {', '.join(known)}")
    return given


def image(
    suite: Annotated[
        str, typer.Option("--suite", metavar="SUITE", help="Debian suite of all that is in it.")
    ] = "bookworm",
    loader: Annotated[
        str, typer.Option("--loader", metavar="NAME", help=f"What UEFI starts: {', '.join(Loader)}. BIOS starts GRUB.")
    ] = Loader.GRUB.value,
    packages: Annotated[
        list[str] | None, typer.Option("--packages", metavar="A,B", help="More Debian packages. Repeatable.")
    ] = None,
    menu: Annotated[
        int,
        typer.Option("--menu", min=0, max=_LONGEST_MENU_S, metavar="S", help="Seconds that the loaders' menu waits."),
    ] = 0,
    console: Annotated[
        str,
        typer.Option(
            "--console", metavar="TTY", help='The kernel\'s console= and where a login is; "" for the screen alone.'
        ),
    ] = "ttyS0,115200",
    words: Annotated[str, typer.Option("--cmdline", metavar="WORDS", help="More words for the kernel.")] = "",
    first_boot_clean: Annotated[
        bool,
        typer.Option(
            "--first-boot-clean", help="As published: no ssh host keys, no machine-id, no random seed until it boots."
        ),
    ] = False,
    format_: Annotated[str, typer.Option("--format", metavar="FORM", help=f"{RAW} or {QCOW2}.")] = RAW,
    disk: Annotated[
        int | None,
        typer.Option(
            "--disk",
            min=1,
            max=_LARGEST_DISK_MIB,
            metavar="MIB",
            help="With -o: the disk is as large as that, as a cloud's is larger than its image.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Copy the image there.")] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Install the newest packages anew.")] = False,
    json: Json = False,
) -> int:
    """Build a disk image of Debian, or find it in the cache, and say where it is.

    GPT, an ext4 root, an EFI system partition, GRUB for BIOS; systemd, ssh, DHCP, root without a password on the
    console. No loop device and no mount is needed, but mmdebstrap must be allowed to make a root.
    """
    recipe = ImageRecipe(
        suite=suite,
        loader=Loader(_one_of("--loader", loader, tuple(Loader))),
        packages=tuple(name for text in packages or () for name in re.split(r"[\s,]+", text) if name),
        menu_s=menu,
        console=_expect_words("--console", console),
        words=_expect_words("--cmdline", words),
        format=_one_of("--format", format_, (RAW, QCOW2)),
        first_boot_clean=first_boot_clean,
    )
    if output is not None:
        expect_file("--output", output, (), example="disk.img")
    elif disk is not None:
        raise InputError("--disk: is the size of the copy that --output makes", hint="-o disk.img")
    with build_progress(silent=json) as (tell, progress):
        built = make_image(Workshop(open_cache(), refresh=refresh, tell=tell, progress=progress), recipe)
    if output is not None:
        if disk is not None:
            # Before the copy takes the place of a file that is there.
            expect_disk_for(built.path, disk * _MIB)
        copy_as(output, built.path)
        if disk is not None:
            grow_disk(output, recipe.format, disk * _MIB)
    return answer(image_view(recipe, built, output), json=json)


def _expect_words(option: str, text: str) -> str:
    # It goes into a line of GRUB's menu, where these would end a word or begin a variable.
    if re.search(r"[^ -~]|[{}$;'\"\\#]", text):
        raise InputError(
            f"{option}: has a character that GRUB's menu takes for its own", hint="words of a command line"
        )
    return text.strip()
