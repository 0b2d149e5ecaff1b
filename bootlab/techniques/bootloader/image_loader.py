"""The bootloader on a disk image: how long it waits for a key, and what stands between UEFI and the kernel."""

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text
from bootlab.timeline import marks as m

_BEHIND = (m.EFI_STUB_ENTRY, m.EXIT_BOOT_SERVICES, m.IMAGE_ENTRY, m.KERNEL_ENTRY)
_LEAST_WAIT_NS = 900_000_000
"""Menus wait for whole seconds."""
_NO_IMAGE = "the system boots no disk image ([image])"


def _loader_ns(marks: Evidence | Measured) -> int | None:
    """Return how long the loaders took, up to the kernel's first instruction or the end of UEFI."""
    start = marks.marks.get(m.LOADER_ENTRY)
    ends = [marks.marks[name] for name in _BEHIND if name in marks.marks]
    return None if start is None or not ends else min(ends) - start


def _has_a_menu(system: System, measured: Measured) -> str | None:
    if system.image is None:
        return _NO_IMAGE
    if system.image.menu_s == 0:
        return "image.menu_s is 0 already"
    took_ns = _loader_ns(measured)
    if took_ns is not None and took_ns < _LEAST_WAIT_NS:
        return f"its loaders take {took_ns / 1e6:.0f} ms: no menu waits"
    return None


def _waits_less(after: Evidence, before: Evidence) -> Effect:
    new_ns, old_ns = _loader_ns(after), _loader_ns(before)
    if new_ns is None or old_ns is None:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if old_ns - new_ns >= _LEAST_WAIT_NS else Effect.NONE


def _may_have_no_loader(system: System, measured: Measured) -> str | None:
    if system.image is None:
        return _NO_IMAGE
    if system.machine.firmware != "ovmf":
        return 'UEFI starts one, and the image is booted by BIOS (machine.firmware = "ovmf")'
    if system.image.loader is not None:
        return f'image.loader is "{system.image.loader}" already'
    return None


def _is_the_stub(after: Evidence, before: Evidence) -> Effect:
    if m.BDS_ENTRY not in after.marks or m.EFI_STUB_ENTRY not in after.marks:
        return Effect.NOT_SHOWN
    return Effect.NONE if m.LOADER_ENTRY in after.marks or m.LOADER_ENTRY not in before.marks else Effect.PROVEN


def _is_a_uki(after: Evidence, before: Evidence) -> Effect:
    new_ns, old_ns = _loader_ns(after), _loader_ns(before)
    if new_ns is None or old_ns is None or m.BDS_ENTRY not in after.marks:
        return Effect.NOT_SHOWN
    # The stub hands over at once: all of it is read before it starts.
    return Effect.PROVEN if m.EFI_STUB_ENTRY in after.marks and new_ns * 2 < old_ns else Effect.NONE


def _may_be_loaded(system: System, measured: Measured) -> str | None:
    if system.image is None:
        return _NO_IMAGE
    if system.image.path.suffix.lower() == ".efi":
        return "QEMU loads a unified kernel image itself already"
    return None if system.image.loader is None else f'image.loader is "{system.image.loader}" already'


def _is_loaded(after: Evidence, before: Evidence) -> Effect:
    started = {m.BOOT_SECTOR, m.LOADER_ENTRY}
    if m.START_KERNEL not in after.marks or started.isdisjoint(before.marks):
        return Effect.NOT_SHOWN
    return Effect.PROVEN if started.isdisjoint(after.marks) else Effect.NONE


TECHNIQUES = (
    Technique(
        name="bootloader_menu_none",
        text=Text(
            summary="lets the bootloader of a disk image boot its default at once, without a menu",
            mechanism=(
                "GRUB and systemd-boot show their menu for some seconds, Debian's GRUB for five, and wait for a key. "
                "GRUB looks at its clock again and again meanwhile, so on the virtual clock the wait is executed."
            ),
            cost="another entry is chosen by holding a key as the loader starts, or from the running system",
            risk=Risk.NONE,
            published=(none_published("GRUB's and systemd-boot's manuals, which give the defaults"),),
        ),
        change=Change(
            Layer.BOOTLOADER,
            "image.menu_s = 0 (GRUB_TIMEOUT=0 and update-grub; timeout 0 in loader/loader.conf)",
            lambda system, measured: system.with_part("image", menu_s=0),
            _has_a_menu,
        ),
        proof=Proof(_waits_less),
    ),
    Technique(
        name="bootloader_uki",
        text=Text(
            summary="lets UEFI start kernel and initramfs as one file, a unified kernel image, without a bootloader",
            mechanism=(
                "UEFI's boot manager reads one file from the EFI system partition, in few large requests, and "
                "systemd's stub in it starts the kernel at once. GRUB brings drivers of its own, and reads kernel "
                "and initramfs in small pieces."
            ),
            cost=(
                "no menu and no choice of kernel; the command line is in the file; each new kernel or initramfs is "
                "packed again, and the partition must have room for it"
            ),
            risk=Risk.FUNCTION,
            published=(none_published("systemd-stub(7) and the specification of unified kernel images"),),
        ),
        change=Change(
            Layer.BOOTLOADER,
            'image.loader = "uki" (ukify build, installed as EFI/BOOT/BOOTX64.EFI or by a boot entry)',
            lambda system, measured: system.with_part("image", loader="uki"),
            _may_have_no_loader,
        ),
        proof=Proof(_is_a_uki),
    ),
    Technique(
        name="bootloader_efi_stub",
        text=Text(
            summary="lets UEFI start the kernel itself, by its EFI stub and a boot entry, without a bootloader",
            mechanism=(
                "A kernel with CONFIG_EFI_STUB is a program of UEFI's. A boot entry in the firmware's variables names "
                "it and has its command line; the stub reads the initramfs from the EFI system partition."
            ),
            cost=(
                "no menu and no choice of kernel; each new kernel and initramfs is copied to the EFI system partition; "
                "an image that is moved to another machine has lost its entry, and then boots by what is on it"
            ),
            risk=Risk.FUNCTION,
            published=(none_published("Documentation/admin-guide/efi-stub.rst and efibootmgr(8)"),),
        ),
        change=Change(
            Layer.BOOTLOADER,
            'image.loader = "efi-stub" (efibootmgr --create --loader KERNEL --unicode WORDS)',
            lambda system, measured: system.with_part("image", loader="efi-stub"),
            _may_have_no_loader,
        ),
        proof=Proof(_is_the_stub),
    ),
    Technique(
        name="bootloader_direct",
        text=Text(
            summary="has QEMU load the image's kernel, initramfs and words itself, and firmware start them",
            mechanism=(
                "With -kernel nothing is read from the disk before the kernel runs: SeaBIOS copies what QEMU holds "
                "into memory by its linuxboot ROM, OVMF reads it through fw_cfg and starts the kernel's EFI stub."
            ),
            cost=(
                "the host holds kernel and initramfs: what an update installs in the image is not booted until they "
                "are copied again; no menu, no other kernel"
            ),
            risk=Risk.FUNCTION,
            published=(none_published("QEMU's manual, Direct Linux Boot"),),
        ),
        change=Change(
            Layer.BOOTLOADER,
            'image.loader = "direct" (QEMU -kernel, -initrd, -append; libvirt <kernel>)',
            lambda system, measured: system.with_part("image", loader="direct", menu_s=None),
            _may_be_loaded,
        ),
        proof=Proof(_is_loaded),
    ),
)
