"""An ISO image for tests, as grub-mkrescue makes it: GRUB for BIOS and for UEFI, a kernel and an initramfs on it.

GRUB's modules and xorriso come as Debian packages that are unpacked, and not installed.
"""

import os
from pathlib import Path

from bootlab.build.debian import packages
from bootlab.build.workshop import Workshop
from bootlab.process import run

SUITE = "bookworm"
_LIBRARIES = ("libisoburn1", "libburn4", "libisofs6", "libjte2")
_MODULES = (
    "normal",
    "iso9660",
    "linux",
    "serial",
    "terminal",
    "search",
    "search_label",
    "echo",
    "part_gpt",
    "part_msdos",
)
_EARLY = "search --no-floppy --set=root --label BOOTLAB\nset prefix=($root)/boot/grub\n"
_MENU = """set timeout=0
serial --speed=115200
terminal_output console serial
menuentry 'Small live system' {{
 linux /live/vmlinuz {words}
 initrd /live/initrd.img
}}
"""


def make_iso(shop: Workshop, folder: Path, kernel: Path, initramfs: Path, words: str, *, hybrid: bool = True) -> Path:
    """Return an ISO in `folder` that boots by BIOS and by UEFI; `hybrid`: also where it is on a disk."""
    tree = {name: packages.fetch(shop, name, SUITE, "x86_64", key="test").tree
            for name in ("xorriso", "grub-pc-bin", "grub-efi-amd64-bin", *_LIBRARIES)}  # fmt: skip
    source, out = folder / "iso", folder / "live.iso"
    bios, uefi = tree["grub-pc-bin"] / "usr/lib/grub/i386-pc", tree["grub-efi-amd64-bin"] / "usr/lib/grub/x86_64-efi"
    (source / "boot/grub").mkdir(parents=True)
    (source / "live").mkdir()
    (source / "live/vmlinuz").write_bytes(kernel.read_bytes())
    (source / "live/initrd.img").write_bytes(initramfs.read_bytes())
    (source / "boot/grub/grub.cfg").write_text(_MENU.format(words=words))
    early, program = folder / "early.cfg", folder / "BOOTX64.EFI"
    early.write_text(_EARLY)
    image = ["grub-mkimage", "-c", early, "-p", "/boot/grub"]
    run([*image, "-d", bios, "-O", "i386-pc-eltorito", "-o", source / "boot/grub/bios.img", "biosdisk", *_MODULES])
    run([*image, "-d", uefi, "-O", "x86_64-efi", "-o", program, *_MODULES])
    # FAT12: a catalogue counts up to 32 MiB, and FAT32 begins there.
    efi = source / "efi.img"
    run(["mformat", "-i", efi, "-C", "-T", "5760", "-h", "2", "-s", "36", "-N", "b0071ab0", "::"], package="mtools")
    run(["mmd", "-i", efi, "::EFI", "::EFI/BOOT"], package="mtools")
    run(["mcopy", "-i", efi, program, "::EFI/BOOT/BOOTX64.EFI"], package="mtools")
    argv: list[str | Path] = [tree["xorriso"] / "usr/bin/xorriso", "-as", "mkisofs", "-r", "-J", "-V", "BOOTLAB"]
    argv += ["-b", "boot/grub/bios.img", "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table"]
    if hybrid:
        argv += ["--grub2-boot-info", "--grub2-mbr", bios / "boot_hybrid.img"]
    argv += ["-eltorito-alt-boot", "-e", "efi.img", "-no-emul-boot"]
    if hybrid:
        argv += ["-isohybrid-gpt-basdat"]
    libraries = ":".join(str(tree[name] / "usr/lib/x86_64-linux-gnu") for name in _LIBRARIES)
    run([*argv, "-o", out, source], env={"LD_LIBRARY_PATH": libraries, "SOURCE_DATE_EPOCH": "1700000000",
                                          "PATH": os.environ["PATH"]}, deadline_s=120)  # fmt: skip
    return out
