"""bootlab-init with units in the place of an init system that runs a shell script for every service."""

from typing import Final

from bootlab.system import System
from bootlab.techniques.changes.root_files import with_root_files
from bootlab.techniques.changes.root_image import no_recipe, recipe_of
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_is
from bootlab.techniques.model.published import KATO_2016, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

CONFIGURATION: Final = "/etc/bootlab/init.conf"
"""Where a system file offers its own: `"/etc/bootlab/init.conf" = "init.conf"` in [rootfs.files]."""
FIRST: Final = "process_1"
"""The fact that a unit of its own prints behind the goal: the program of process 1."""
TELLS: Final = {
    "/etc/bootlab/units/bootlab-told.unit": f"""# Says on the console who process 1 is.
exec /bin/sh -c "echo bootlab: fact {FIRST} $(readlink /proc/1/exe)"
ready exit
defer yes
output console
"""
}


def _offers_units(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    if recipe.runs_bootlab_init:
        return "bootlab-init is the root's init already"
    if recipe.init is not None:
        return "rootfs.init is the root's init"
    if any(word.startswith("init=") for word in system.kernel.cmdline.split()):
        return "init= on the command line starts another init than the root's"
    if recipe.file_at(CONFIGURATION) is None:
        return f"the system file offers no {CONFIGURATION} in rootfs.files, with units beside it"
    return None


def _by_units(system: System, measured: Measured) -> System:
    return with_root_files(system.with_part("rootfs", bootlab_init=True), TELLS)


TECHNIQUES = (
    Technique(
        name="userspace_bootlab_init",
        text=Text(
            summary="starts services by bootlab-init and units in place of an init system and a script for each",
            mechanism=(
                "A script is a shell, which reads libraries of functions and forks for nearly every line, and scripts "
                "that run one after the other wait for each other where their services do not. Mounts, host name, "
                "address and settings are done in process 1 itself, without a program; services are started as soon "
                "as what they need is up, those of the goal first."
            ),
            cost=(
                "what only the scripts did is gone: of Debian's, /tmp is not emptied, /etc/modules and hooks of "
                "ifupdown are not read, and with `lsb no` no script prepares anything for its service; each service "
                "needs a unit that somebody writes and keeps"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published("2.3 s: shell scripts rewritten in C", KATO_2016),
                Published("0.13 s: groups of processes started in parallel, by what they depend on", KATO_2016),
            ),
        ),
        change=Change(
            Layer.USERSPACE,
            f'rootfs.bootlab_init = true, with "{CONFIGURATION}" = FILE in rootfs.files',
            _by_units,
            _offers_units,
        ),
        proof=fact_is(FIRST, r"/bootlab-init$"),
    ),
)
