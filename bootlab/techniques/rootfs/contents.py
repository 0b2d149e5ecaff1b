"""What is in the root file system: fewer tools, and a program instead of a service manager as init."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import has_words
from bootlab.techniques.changes.init_program import DIRECT_INIT, runs_as_init
from bootlab.techniques.changes.root_image import image_shrinks, no_recipe, recipe_of
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.published import FIRECRACKER_CONTAINERD, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_WORDS = f"init={DIRECT_INIT}"


def _has_packages(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    if not recipe.packages:
        return "the root has no packages"
    if recipe.init is None:
        return "init is one of the packages: with rootfs.init they can be left out"
    return None


def _offers_a_program(system: System, measured: Measured) -> str | None:
    if system.rootfs is None:
        return "the system has no root file system"
    if has_words(system, _WORDS):
        return f"the command line has {_WORDS} already"
    if system.initramfs is not None:
        return "an initramfs decides which init this root is started with"
    if system.rootfs.file_at(DIRECT_INIT) is None:
        return f"the system file offers no program as {DIRECT_INIT} in rootfs.files"
    return None


TECHNIQUES = (
    Technique(
        name="rootfs_busybox",
        text=Text(
            summary="leaves the packages out of the root and takes the tools of one static busybox instead",
            mechanism=(
                "A static program needs no dynamic linker: no libraries are opened, mapped and relocated "
                "for each command. The image has a tenth of the bytes, and few of its blocks are read."
            ),
            cost="programs of the packages are gone; busybox's have fewer options",
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "busybox with what one script needs: 682 to 86 KB; static: -20 ms", "BL: Bootlin boot-time slides"
                ),
            ),
        ),
        change=Change(
            Layer.ROOTFS,
            "rootfs.packages = [], rootfs.busybox = true",
            lambda system, measured: system.with_part("rootfs", packages=(), scripts=False, run=(), busybox=True),
            _has_packages,
        ),
        proof=image_shrinks(),
    ),
    Technique(
        name="rootfs_direct_init",
        text=Text(
            summary="runs the system's own program as init of its root file system",
            mechanism=(
                "A service manager reads units, sorts and starts them, and a shell script forks for every "
                "line. The program alone needs only the system calls that it makes itself."
            ),
            cost="nothing is mounted, supervised or reaped but by the program itself",
            risk=Risk.FUNCTION,
            published=(
                Published("systemd+rootfs >1 s of boot, replaced by the application as PID 1", FIRECRACKER_CONTAINERD),
            ),
        ),
        change=Change(
            Layer.ROOTFS,
            f'{_WORDS} on the command line, with "{DIRECT_INIT}" = PROGRAM in rootfs.files',
            lambda system, measured: system.with_cmdline(_WORDS),
            _offers_a_program,
        ),
        proof=runs_as_init(DIRECT_INIT),
    ),
)
