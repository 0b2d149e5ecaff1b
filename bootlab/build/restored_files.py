"""The files of a power-on: of a system that another kernel restores, that kernel, its initramfs, and the own disks.

The restorer's initramfs is told which kernel the image must be of, and by which words to start that one cold.
"""

from pathlib import Path
from typing import Final

from bootlab.build import boot_files
from bootlab.build.kernel.expected_options import expect_restorer
from bootlab.build.kernel.image import inspect
from bootlab.build.source.config_text import read_config
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import BootFiles, Restorer, System

RESTORED: Final = "/etc/bootlab/restored"
"""The kernel that an image must be of, as its note names it (guest/sleep/main.c)."""
COLD_START: Final = "/etc/bootlab/cold-start"
"""The command line of a cold start (guest/mount_root.sh)."""
_OF_KERNEL: Final = ("kernel", "initramfs")


def prepare(shop: Workshop, system: System) -> BootFiles:
    """Return the files that this power-on of `system` starts from, with their hashes.

    Raises as `boot_files.prepare`, and InputError for a restorer's kernel that cannot do its work.
    """
    if system.restorer is None or not system.restores:
        return boot_files.prepare(shop, system)
    own = boot_files.prepare(shop, system.model_copy(update={"power_on": None}))
    started = boot_files.prepare(shop, _as_restorer(system, system.restorer, _name_of(own.kernel)))
    if started.kernel_config is not None:
        restored = read_config(own.kernel_config) if own.kernel_config is not None else {}
        expect_restorer(system, read_config(started.kernel_config), restored)
    disks = {name: value for name, value in own.hashes.items() if name not in _OF_KERNEL}
    return started.model_copy(update={"disks": own.disks, "hashes": started.hashes | disks})


def _name_of(kernel: Path) -> str:
    image = inspect(kernel)
    if image.version is None or image.build is None:
        raise InputError(
            f"restorer: {kernel.name} does not say its release and build, by which an image of it would be known",
            hint="a bzImage and an ELF kernel of Linux say both",
        )
    return f"{image.version} {image.build}"


def _as_restorer(system: System, restorer: Restorer, restored: str) -> System:
    told = {RESTORED: f"{restored}\n", COLD_START: f"{system.kernel.cmdline}\n"}
    initramfs = restorer.initramfs.model_copy(update={"texts": {**restorer.initramfs.texts, **told}})
    parts = {"kernel": restorer.kernel, "initramfs": initramfs, "rootfs": None, "disks": (), "restorer": None}
    return system.model_copy(update=parts)
