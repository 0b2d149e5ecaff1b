"""Where the root's files lie instead: in an initramfs."""

from bootlab.errors import InputError
from bootlab.system import Compression, Content, Initramfs, System
from bootlab.techniques.changes.root_image import no_recipe, recipe_of
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import line_vanishes
from bootlab.techniques.model.published import BOOTLIN_TRAINING, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_ROOT_WORDS = ("root=", "rootfstype=", "rootflags=", "rootwait", "rootdelay=", "ro", "rw")


def _can_be_an_archive(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    if recipe.source is not None:
        return "rootfs.source keeps file capabilities, which an initramfs cannot have"
    if system.initramfs is not None:
        return "the system has an initramfs besides, which hands over to this root"
    if system.disks:
        return "the system's other disks would change their names: /dev/vdb becomes /dev/vda"
    return None


def _as_initramfs(system: System, measured: Measured) -> System:
    recipe = recipe_of(system)
    if recipe is None:
        raise InputError(no_recipe(system))
    content = {name: getattr(recipe, name) for name in Content.model_fields}
    words = [word for word in system.kernel.cmdline.split() if not _is_about_root(word)]
    named = [word.partition("=")[2] for word in words if word.startswith("init=")]
    words = [word for word in words if not word.startswith(("init=", "rdinit="))]
    # A recipe's init is /init in either. Without one a root on a disk is started by /sbin/init, an initramfs by /init.
    if named or recipe.init is None:
        words.append(f"rdinit={named[-1] if named else '/sbin/init'}")
    archive = Initramfs.model_validate({**content, "compression": Compression.NONE})
    changed = system.model_copy(update={"rootfs": None, "initramfs": archive}).with_part(
        "kernel", cmdline=" ".join(words)
    )
    return changed.with_options(BLK_DEV_INITRD="y") if changed.kernel.build is not None else changed


def _is_about_root(word: str) -> bool:
    return any(word == one or one.endswith("=") and word.startswith(one) for one in _ROOT_WORDS)


TECHNIQUES = (
    Technique(
        name="rootfs_initramfs",
        text=Text(
            summary="carries the root's files in an initramfs instead of on a disk",
            mechanism=(
                "No driver of a disk is waited for, no partition table is read and nothing is mounted: the "
                "files are in memory when the kernel has unpacked them. All of them are loaded and "
                "unpacked though, used or not."
            ),
            cost="the files take memory for good, and what is written to them is lost",
            risk=Risk.FUNCTION,
            published=(
                Published("9.660 s in all; squashfs 9.721 s, ext4 9.862 s", BOOTLIN_TRAINING),
                Published(
                    "+300 ms; -20 ms once block devices are off",
                    'M. Opdenacker, "Timing Boot Time Reduction Techniques", Bootlin, ELCE 2019',
                ),
            ),
        ),
        change=Change(
            Layer.ROOTFS,
            "[initramfs] with what [rootfs] held, and rdinit= instead of root=",
            _as_initramfs,
            _can_be_an_archive,
        ),
        proof=line_vanishes(r"VFS: Mounted root \("),
    ),
)
