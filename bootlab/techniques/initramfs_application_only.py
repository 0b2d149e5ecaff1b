"""Leave init and the application in the initramfs, and nothing else."""

from bootlab.system import System
from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.cmdline import option
from bootlab.techniques.initramfs_direct_init import DIRECT_INIT
from bootlab.techniques.technique import Evidence, Layer, Measured, Proof, Risk, Source, Technique

_KEY = "rdinit"


def _applies(system: System, measured: Measured) -> str | None:
    if option(system, _KEY) != DIRECT_INIT:
        return f"init is not the system's own program, which needs nothing else ({_KEY}={DIRECT_INIT})"
    if system.initramfs is None or system.initramfs.file_at(DIRECT_INIT) is None:
        return f"initramfs.files has no {DIRECT_INIT}"
    if system.initramfs.installed:
        return "the initramfs is the one that a distribution's packages made (initramfs.installed)"
    return None


def _apply(system: System, measured: Measured) -> System:
    assert system.initramfs is not None
    # The last of them decides; an earlier step's script is gone as well.
    words = [word for word in system.kernel.cmdline.split() if not word.startswith(f"{_KEY}=")]
    return system.with_part("kernel", cmdline=" ".join(words)).with_part(
        "initramfs",
        init=system.initramfs.file_at(DIRECT_INIT),
        bootlab_init=False,
        files={},
        directory=None,
        packages=(),
        scripts=False,
        run=(),
        busybox=False,
        without=(),
    )


def _prove(after: Evidence, before: Evidence) -> Proof:
    # An archive that is built into the kernel is part of its size.
    size = "initramfs" if "initramfs" in before.sizes else "kernel"
    new, old = after.sizes.get(size), before.sizes.get(size)
    if new is None or old is None:
        return Proof.NOT_SHOWN
    return Proof.PROVEN if new < old else Proof.NO_EFFECT


TECHNIQUE = Technique(
    name="initramfs_application_only",
    layer=Layer.INITRAMFS,
    summary="leaves init and the programs built for it in the initramfs, and nothing else",
    mechanism=(
        "Once the system's own program is init, nobody runs a shell, its tools or scripts: all that is still there is "
        "loaded, unpacked and written into memory at every boot, for nobody."
    ),
    knob="initramfs.init = what initramfs_direct_init starts; no busybox, directory, packages, files",
    cost="no shell and no tools for repairs; a file that the application opens must come with it (initramfs.files)",
    risk=Risk.FUNCTION,
    sources=(Source("unused files removed: 3.54 -> 2.33 MB (-34 %), hardly noticeable", BOOTLIN_2019),),
    apply=_apply,
    prove=_prove,
    applies=_applies,
)
