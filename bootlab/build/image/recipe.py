"""What an image is made of: Debian's packages, a bootloader, and how much of a first boot is left to do."""

from dataclasses import dataclass
from enum import StrEnum

from bootlab.build.debian.install import Commands

PACKAGES = (
    "linux-image-cloud-amd64", "initramfs-tools", "zstd", "systemd-sysv", "udev", "dbus", "kmod", "e2fsprogs",
    "iproute2", "openssh-server", "grub-pc-bin", "grub-efi-amd64-bin", "grub-efi-amd64-signed", "systemd-boot-efi",
)  # fmt: skip
"""Of every image: a Debian that boots from a disk by BIOS and by UEFI, gets an address and answers ssh."""

SHIM_PACKAGES = ("shim-signed",)
"""Of an image with shim."""

# grub-mkimage runs in the root that it is for: no program of GRUB's is needed here.
GRUB_FOLDER = "boot/grub"
CORE = f"{GRUB_FOLDER}/i386-pc/core.img"
COMMANDS = Commands((
    f"mkdir -p /{GRUB_FOLDER}",
    f"cp -r /usr/lib/grub/i386-pc /usr/lib/grub/x86_64-efi /{GRUB_FOLDER}/",
    f"grub-mkimage -O i386-pc -p '(,gpt1)/{GRUB_FOLDER}' -o /{CORE} biosdisk part_gpt ext2 search",
))  # fmt: skip


class Loader(StrEnum):
    """What UEFI starts. By BIOS every image boots through GRUB."""

    GRUB = "grub"
    SYSTEMD_BOOT = "systemd-boot"
    UKI = "uki"
    SHIM = "shim"
    """shim, which starts GRUB: both, and the kernel, are signed, so that Secure Boot takes them."""


@dataclass(frozen=True, slots=True)
class ImageRecipe:
    """An image of Debian. `menu_s`: how long its loaders show their menu."""

    suite: str = "bookworm"
    loader: Loader = Loader.GRUB
    packages: tuple[str, ...] = ()
    """More of them."""
    menu_s: int = 0
    console: str = "ttyS0,115200"
    """What the kernel and a login are on; empty: the screen alone."""
    words: str = ""
    """More words of the kernel's command line."""
    format: str = "raw"
    """`raw` or `qcow2`."""
    first_boot_clean: bool = False
    """Without what a machine makes itself when it boots first: ssh's host keys, machine-id, a random seed."""

    @property
    def identity(self) -> str:
        """Return what tells this recipe from others, for what is made of it."""
        return repr(self)
