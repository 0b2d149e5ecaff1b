"""`bootlab doctor`: every tool and device, found or not, and what to type to get it."""

import subprocess
from typing import Annotated

import typer

from bootlab.build.plugin import build_in_checkout
from bootlab.cli.options.arguments import Json, open_cache
from bootlab.cli.terminal.showing import answer
from bootlab.errors import MissingTool
from bootlab.measure.host.toolbox import examine
from bootlab.process import require_program
from bootlab.report.lists import tools_view
from bootlab.sources import SETUP


def doctor(
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help=(
                "Install what every boot needs, by apt (Debian 12 or newer, or an Ubuntu that has QEMU 9.2), as root "
                "or through sudo, and build a checkout's plugin; then list."
            ),
        ),
    ] = False,
    build: Annotated[
        bool,
        typer.Option(
            "--build",
            help=(
                "What kernels, U-Boot, firmware and images are built with counts as needed, too: flex, bison, cross "
                "compilers, mmdebstrap, ... With --fix it is installed."
            ),
        ),
    ] = False,
    json: Json = False,
) -> int:
    """List every tool and device bootlab uses: found or not, version, purpose, and how to get it.

    Exit code 3 when something that every boot needs, or with --build a build, is missing.
    """
    if fix:
        _install("build" if build else "run")
        build_in_checkout()
    return 3 if answer(tools_view(examine(open_cache(), build=build)), json=json) else 0


def _install(level: str) -> None:
    # What it says is for a person; standard output is for the list.
    done = subprocess.run([require_program("bash", package="bash"), SETUP, "--packages", level], stdout=2, check=False)
    if done.returncode:
        raise MissingTool("what is missing could not be installed", hint="its own message is above")
