"""Put only those kernel modules into the initramfs that the baseline boot made use of."""

from bootlab.system import System
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import archive_shrinks
from bootlab.techniques.machine import has_mmio_devices
from bootlab.techniques.technique import Layer, Measured, Removes, Risk, Source, Technique

EVERY_MODULE = "*"


def _used(measured: Measured) -> list[str]:
    # `modules_used` names those that drive a device; a guest that does not print it tells at least what it loaded.
    facts = measured.facts
    return [_plain(name) for name in facts.get("modules_used", facts.get("modules", "")).split()]


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _pruned(system: System, measured: Measured) -> tuple[str, ...]:
    assert system.initramfs is not None
    used = _used(measured)
    if has_mmio_devices(system) and "virtio_mmio" not in used:
        # Measured on another machine type, whose bus needed another driver.
        used.append("virtio_mmio")
    listed = system.initramfs.modules
    kept = [name for name in listed if _plain(name) in used]
    if EVERY_MODULE in listed:
        kept += [name for name in used if name not in {_plain(one) for one in kept}]
    return tuple(dict.fromkeys(kept))


def _kept(system: System, measured: Measured) -> tuple[str, ...]:
    # A distribution's own: what it loaded is known, but not which of that was for a file system or by name.
    loaded = measured.facts.get("modules", "").split()
    if has_mmio_devices(system):
        loaded.append("virtio_mmio")
    already = system.initramfs.keep_modules if system.initramfs is not None else None
    return tuple(sorted({_plain(name) for name in loaded if already is None or _plain(name) in map(_plain, already)}))


def _apply(system: System, measured: Measured) -> System:
    if system.initramfs is not None and system.initramfs.installed:
        system = system.with_part("initramfs", keep_modules=_kept(system, measured))
    if system.initramfs is not None and system.initramfs.modules:
        system = system.with_part("initramfs", modules=_pruned(system, measured))
    return system


def _applies(system: System, measured: Measured) -> str | None:
    if system.initramfs is None or not (system.initramfs.modules or system.initramfs.installed):
        return "the initramfs is not a recipe with modules"
    if system.initramfs.installed and "modules" not in measured.facts:
        return "the baseline boot did not say which modules it loaded (fact modules)"
    if _apply(system, measured) == system:
        return "every module in the initramfs was used"
    if system.initramfs.installed:
        return None
    if not _used(measured):
        return "the baseline boot did not say which modules it used (fact modules_used or modules)"
    return None


TECHNIQUE = Technique(
    name="initramfs_pruned",
    layer=Layer.INITRAMFS,
    summary="puts only those modules into the initramfs that the baseline boot used, with what they depend on",
    mechanism=(
        "Every byte of the archive is unpacked into memory before init can run, used or not, and an init that loads a "
        "list of modules links and verifies each. What the baseline boot did not need is left out."
    ),
    knob="initramfs.modules, or keep_modules of a distribution's own, = those of the fact modules_used, or modules",
    cost="hardware that was not there when the baseline was measured has no driver",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED,
            "CL: Phoronix, Clear Linux kernel 3 s to 300 ms, where a module diet was one of several changes",
        ),
    ),
    apply=_apply,
    prove=archive_shrinks,
    applies=_applies,
    removes=Removes(
        "unpacking and loading of modules that drive nothing",
        # Of both, only the share of the modules that are left out.
        functions=("load_module",),
        keeps=("do_init_module",),
        shortens=("unpack_to_rootfs",),
    ),
)
