"""What is in the initramfs: modules that something needs, and a program instead of scripts as init."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import has_words, word_value
from bootlab.techniques.changes.init_program import DIRECT_INIT, runs_as_init
from bootlab.techniques.changes.machine import has_mmio_devices
from bootlab.techniques.cmdline.audit_findings import ARCHIVE_MODULES
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import archive_shrinks
from bootlab.techniques.model.published import (
    BOOTLIN_2019,
    BOOTLIN_TRAINING,
    CLEAR_LINUX,
    CROZAT_2008,
    FIRECRACKER_CONTAINERD,
    Published,
    none_published,
)
from bootlab.techniques.model.subjects import MODULE_LOADING
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_WORDS = f"rdinit={DIRECT_INIT}"
_KEY = "rdinit"
EVERY_MODULE = "*"


def _offers_a_program(system: System, measured: Measured) -> str | None:
    if has_words(system, _WORDS):
        return f"the command line has {_WORDS} already"
    if system.initramfs is None or system.initramfs.file_at(DIRECT_INIT) is None:
        return f"the system file offers no program as {DIRECT_INIT} in initramfs.files"
    return None


def _application_is_init(system: System, measured: Measured) -> str | None:
    if word_value(system, _KEY) != DIRECT_INIT:
        return f"init is not the system's own program, which needs nothing else ({_KEY}={DIRECT_INIT})"
    if system.initramfs is None or system.initramfs.file_at(DIRECT_INIT) is None:
        return f"initramfs.files has no {DIRECT_INIT}"
    if system.initramfs.installed:
        return "the initramfs is the one that a distribution's packages made (initramfs.installed)"
    return None


def _only_the_application(system: System, measured: Measured) -> System:
    assert system.initramfs is not None
    # The last of them decides; an earlier step's script is gone as well.
    words = [word for word in system.kernel.cmdline.split() if not word.startswith(f"{_KEY}=")]
    return system.with_part("kernel", cmdline=" ".join(words)).with_part(
        "initramfs",
        init=system.initramfs.file_at(DIRECT_INIT),
        bootlab_init=False,
        files={},
        texts={},
        directory=None,
        packages=(),
        scripts=False,
        run=(),
        busybox=False,
        without=(),
    )


def _is_smaller(after: Evidence, before: Evidence) -> Effect:
    # An archive that is built into the kernel is part of its size.
    size = "initramfs" if "initramfs" in before.sizes else "kernel"
    new, old = after.sizes.get(size), before.sizes.get(size)
    if new is None or old is None:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if new < old else Effect.NONE


def _used(measured: Measured) -> list[str]:
    # `modules_used` names those that drive a device; a guest that does not print it tells at least what it loaded.
    facts = measured.facts
    return [_plain(name) for name in facts.get("modules_used", facts.get("modules", "")).split()]


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _modules_used(system: System, measured: Measured) -> tuple[str, ...]:
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


def _modules_loaded(system: System, measured: Measured) -> tuple[str, ...]:
    # A distribution's own: what it loaded is known, but not which of that was for a file system or by name.
    loaded = measured.facts.get("modules", "").split()
    if has_mmio_devices(system):
        loaded.append("virtio_mmio")
    already = system.initramfs.keep_modules if system.initramfs is not None else None
    return tuple(sorted({_plain(name) for name in loaded if already is None or _plain(name) in map(_plain, already)}))


def _pruned(system: System, measured: Measured) -> System:
    if system.image is not None:
        return system.with_part("image", keep_modules=tuple(sorted(measured.facts.get(ARCHIVE_MODULES, "").split())))
    if system.initramfs is not None and system.initramfs.installed:
        system = system.with_part("initramfs", keep_modules=_modules_loaded(system, measured))
    if system.initramfs is not None and system.initramfs.modules:
        system = system.with_part("initramfs", modules=_modules_used(system, measured))
    return system


def _has_unused_modules(system: System, measured: Measured) -> str | None:
    if system.image is not None:
        if system.image.keep_modules is not None:
            return "image.keep_modules names those that stay already"
        if ARCHIVE_MODULES not in measured.facts:
            return "no audit said which modules of the image's initramfs are loaded: bootlab try --audit RUN"
        return None
    if system.initramfs is None or not (system.initramfs.modules or system.initramfs.installed):
        return "the initramfs is not a recipe with modules"
    if system.kept_ram is not None and "root_source" not in measured.facts:
        return "which modules are used was measured with another root than the one in kept RAM"
    if system.initramfs.installed and "modules" not in measured.facts:
        return "the baseline boot did not say which modules it loaded (fact modules)"
    if _pruned(system, measured) == system:
        return "every module in the initramfs was used"
    if system.initramfs.installed:
        return None
    if not _used(measured):
        return "the baseline boot did not say which modules it used (fact modules_used or modules)"
    return None


TECHNIQUES = (
    Technique(
        name="initramfs_direct_init",
        text=Text(
            summary="runs the system's own static program as init instead of a shell script",
            mechanism=(
                "A shell script forks and executes a program for every line, and each one maps, relocates "
                "and tears down an address space. A static program that makes the same system calls itself "
                "does so in microseconds."
            ),
            cost="what only the script did is gone: mounts, modules, reaping of orphans, a shell for repairs",
            risk=Risk.FUNCTION,
            published=(
                Published("systemd+rootfs >1 s of boot, replaced by the application as PID 1", FIRECRACKER_CONTAINERD),
                Published("one startup script with built-ins and no forks: -87 ms (200 MHz ARM9)", BOOTLIN_TRAINING),
            ),
        ),
        change=Change(
            Layer.INITRAMFS,
            f'rdinit={DIRECT_INIT} on the command line, with "{DIRECT_INIT}" = PROGRAM in initramfs.files',
            lambda system, measured: system.with_cmdline(_WORDS),
            _offers_a_program,
        ),
        proof=runs_as_init(DIRECT_INIT),
    ),
    Technique(
        name="initramfs_application_only",
        text=Text(
            summary="leaves init and the programs built for it in the initramfs, and nothing else",
            mechanism=(
                "Once the system's own program is init, nobody runs a shell, its tools or scripts: all "
                "that is still there is loaded, unpacked and written into memory at every boot, for nobody."
            ),
            cost=(
                "no shell and no tools for repairs; a file that the application opens must come with it "
                "(initramfs.files)"
            ),
            risk=Risk.FUNCTION,
            published=(Published("unused files removed: 3.54 -> 2.33 MB (-34 %), hardly noticeable", BOOTLIN_2019),),
        ),
        change=Change(
            Layer.INITRAMFS,
            "initramfs.init = what initramfs_direct_init starts; no busybox, directory, packages, files",
            _only_the_application,
            _application_is_init,
        ),
        proof=Proof(_is_smaller),
    ),
    Technique(
        name="initramfs_pruned",
        text=Text(
            summary="puts only those modules into the initramfs that the baseline boot used, with what they depend on",
            mechanism=(
                "Every byte of the archive is unpacked into memory before init can run, used or not, and "
                "an init that loads a list of modules links and verifies each. What the baseline boot did "
                "not need is left out."
            ),
            cost="hardware that was not there when the baseline was measured has no driver",
            risk=Risk.FUNCTION,
            published=(
                Published("6 to 15 s, usb-storage out of an initrd that waited for it", CROZAT_2008),
                none_published(f"{CLEAR_LINUX}, where a module diet was one of several changes"),
            ),
        ),
        change=Change(
            Layer.INITRAMFS,
            (
                "initramfs.modules, or keep_modules of a distribution's own, = those of the fact "
                "modules_used, or modules; image.keep_modules = those that an audit saw loaded"
            ),
            _pruned,
            _has_unused_modules,
        ),
        proof=archive_shrinks(),
        # Of both, only the share of the modules that are left out.
        removes=MODULE_LOADING.also(
            what="unpacking and loading of modules that drive nothing", shortens=("unpack_to_rootfs",)
        ),
    ),
)
