"""The root in RAM that outlives the power, its copy on its disk beside it: no disk is read to start from it.

The proof is what bootlab-kept says of the start: the root came out of kept RAM, and not from the disk. It mounts none
whose header or dm-verity tree is another than the initramfs names.
"""

from typing import Final

from bootlab.errors import InputError
from bootlab.system import (
    Attachment,
    ClockKind,
    Disk,
    FileSystem,
    KeptRam,
    PowerOn,
    PowerOnKind,
    Rootfs,
    System,
)
from bootlab.techniques.changes.kernel_options import SHA256_DRIVERS, known, option_value
from bootlab.techniques.changes.root_image import no_recipe, recipe_of
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_is
from bootlab.techniques.model.published import KATO_2016, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_MIB: Final = 1 << 20
_SECTION_MIB: Final = 2
"""A region has whole sections (KeptRam)."""
_CHANGES_MIB: Final = 16
"""Memory for what is written over the root: more than a system writes as it starts, far less than a file system."""
_TREE_OF: Final = 100
"""A dm-verity tree has 32 bytes for each block of 4,096 and those above it: less than a hundredth."""
_REGIONS: Final = {"x86_64": ("X86_PMEM_LEGACY", "nd_e820"), "aarch64": ("OF_PMEM", "of_pmem")}
"""Architecture -> option and module of the driver that takes the region."""
_LAYERS: Final = {"BLK_DEV_PMEM": "nd_pmem", "DM_VERITY": "dm_verity", "OVERLAY_FS": "overlay"}
_AS_MODULE: Final = "m"


def _drivers(system: System) -> dict[str, str]:
    """Return option -> module of what takes the region and mounts the root in it."""
    return dict([_REGIONS[system.machine.arch]]) | _LAYERS


def _can_be_kept(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    reason = _of_root(recipe) or _of_machine(system) or _of_kernel(system, measured)
    if reason is not None:
        return reason
    if "rootfs" not in measured.sizes:
        return "how large the image of the root is was not measured"
    try:
        # The model knows where such a region may lie, and what goes with it.
        _kept(system, measured)
    except InputError as error:
        return error.message.removeprefix(f"{system.name}: ").removeprefix("(whole file): ")
    return None


def _of_root(recipe: Rootfs) -> str | None:
    if recipe.device == "kept-ram":
        return "the root is in kept RAM already"
    if recipe.device != "virtio-blk":
        return f'rootfs.device is "{recipe.device}", and the copy of a root in kept RAM is on a virtio disk'
    if recipe.init is not None:
        return "rootfs.init is the root's init: nothing that is known here says when it is ready (bootlab-kept settle)"
    if recipe.late or recipe.keep_writes:
        return "rootfs.late and rootfs.keep_writes are of a root that is written to on its disk"
    return None


def _of_machine(system: System) -> str | None:
    if system.clock.kind is not ClockKind.VIRTUAL:
        return 'what a boot before leaves in RAM is kept on the virtual clock: clock.kind = "virtual"'
    if system.power_on is not None and system.power_on.kind is not PowerOnKind.COLD:
        return f'power_on.kind = "{system.power_on.kind.value}" finds something else of the time before'
    archive = system.initramfs
    if archive is None or not archive.mount_root or archive.embedded:
        return "no initramfs of a recipe mounts the root: initramfs.mount_root = true"
    words = system.kernel.cmdline.split()
    if any(word.startswith("init=") for word in words):
        return "init= on the command line starts another init than the root's"
    if "root=/dev/vda" not in words:
        return "root=/dev/vda is not on the command line, and the copy of a root in kept RAM is that whole disk"
    if any(disk.attach is Attachment.VIRTIO and disk.filesystem == "swap" for disk in system.disks):
        return "the machine has a disk to hibernate to, which finds another image than this"
    return None


def _of_kernel(system: System, measured: Measured) -> str | None:
    if system.kernel.build is not None:
        # Its modules are those that the configuration makes: all of these can be asked for.
        return "the kernel is built from source: kept RAM takes the modules of a distribution's"
    if system.machine.arch not in _REGIONS:
        return f"x86-64 is told of kept RAM, and arm64 by its device tree, and this machine is {system.machine.arch}"
    if not known(system, measured):
        return None
    missing = [
        f"CONFIG_{option}" for option in _drivers(system) if option_value(system, measured, option) in (None, "n")
    ]
    return f"the kernel is built without {', '.join(missing)}" if missing else None


def _kept(system: System, measured: Measured) -> System:
    recipe, archive = recipe_of(system), system.initramfs
    if recipe is None or archive is None:
        raise InputError(no_recipe(system))
    image_mib = -(-measured.sizes["rootfs"] // _MIB)
    size_mib = _region_mib(image_mib)
    at_mib = 128 if not system.memory_at else (system.memory_at // _MIB) + system.machine.memory_mib - size_mib
    kept = KeptRam(size_mib=size_mib, at_mib=at_mib, verify="verity", changes_mib=_CHANGES_MIB, settles=True)
    wanted = [
        module
        # What makes the digests short is loaded for dm-verity to find it; without it all works, and takes longer.
        for option, module in [SHA256_DRIVERS[system.machine.arch], *_drivers(system).items()]
        if option_value(system, measured, option) in (None, _AS_MODULE)
    ]
    listed = {name.replace("-", "_") for name in archive.modules}
    # Behind the others: those are loaded as before. A driver of digests that comes first has the signatures of all
    # others checked in fewer instructions, whatever the root is, and that would be taken for what kept RAM saves.
    modules = (*archive.modules, *(name for name in wanted if name not in listed))
    room = Disk(size_mib=2 * _CHANGES_MIB + 1, filesystem="changes", serial="changes", model=recipe.model)
    root = {"device": "kept-ram", "kept_ram": kept}
    if recipe.filesystem is FileSystem.EXT4 and recipe.size_mib is None:
        # What later steps add to the root has room in it, and the region stays as large.
        root["size_mib"] = image_mib
    changed = system.model_copy(
        update={
            "rootfs": recipe.model_copy(update=root),
            "disks": (*system.disks, room),
            "power_on": PowerOn(kind=PowerOnKind.SELF_REFRESH),
        }
    )
    # Checked as a file is, all of it at once: each of these needs the others.
    return changed.with_part("initramfs", modules=modules)


def _region_mib(image_mib: int) -> int:
    # Beside the image: its tree, and a block for the header.
    mib = image_mib + -(-image_mib // _TREE_OF) + 1
    return -(-mib // _SECTION_MIB) * _SECTION_MIB


TECHNIQUES = (
    Technique(
        name="rootfs_kept_ram",
        text=Text(
            summary="starts from a root in RAM that is held in self-refresh while the machine is off",
            mechanism=(
                "The root's image lies in memory that was kept and is mounted from there, behind dm-verity: nothing of "
                "it is read from its disk, which has the copy for a start that finds that memory lost, damaged or of "
                "another image. What the system writes lies over it in memory, and is written to a disk of its own "
                "once the system is ready, and as it is shut down."
            ),
            cost=(
                "a current while the machine is off: 18 mA at 12 V for 4 GB of DDR3, 2.2 mA of LP-DDR4, as Panasonic "
                "published it, and as much of that as the region is of those 4 GB; that memory is missing from the "
                "system; what is written after the last save is lost with the power, and so is the saving after a "
                "power cut that the RAM does not outlive: that start takes the disk. A block that turned out wrong "
                "restarts the machine once"
            ),
            risk=Risk.FUNCTION,
            published=(Published("bootloader 5.9 s to 0.15 s, with the kernel in that RAM as well", KATO_2016),),
        ),
        change=Change(
            Layer.ROOTFS,
            'rootfs.device = "kept-ram", rootfs.kept_ram with changes_mib and settles, [[disks]] with filesystem = '
            '"changes", initramfs.modules, power_on.kind = "self-refresh"',
            _kept,
            _can_be_kept,
        ),
        proof=fact_is("root_source", r"^kept-ram$"),
    ),
)
