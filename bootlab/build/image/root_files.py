"""What an installed Debian needs beyond its packages to boot from a disk: GRUB's menu, mounts, network, a login.

As clouds publish it: DHCP on every card, a login on the serial console, and no identity yet if a first boot is wanted.
"""

import stat

from bootlab.build.formats.cpio import Entry
from bootlab.build.image.recipe import GRUB_FOLDER, ImageRecipe
from bootlab.build.root.file_tree import FileTree

ROOT_UUID = "b0071ab0-0000-4000-8000-000000000001"
"""Of every ext4 file system that bootlab makes."""
ESP_SERIAL = "b0071ab0"
_ESP_UUID = "B007-1AB0"
ESP_GRUB_CFG = f"""search.fs_uuid {ROOT_UUID} root
set prefix=($root)/{GRUB_FOLDER}
configfile $prefix/grub.cfg
"""
"""What the GRUB that UEFI starts reads first."""

_FSTAB = f"UUID={ROOT_UUID} / ext4 rw,discard,errors=remount-ro 0 1\nUUID={_ESP_UUID} /boot/efi vfat umask=077 0 0\n"
_NETWORK = "[Match]\nName=en* eth*\n[Network]\nDHCP=yes\n"
_WANTED = "etc/systemd/system/multi-user.target.wants"
_CLOUD_SEED = "var/lib/cloud/seed/nocloud"
# As images without cloud-init have it: Debian's own unit makes no keys.
_KEYS_UNIT = """[Unit]
Description=ssh's host keys, when the machine boots first
ConditionPathExists=!/etc/ssh/ssh_host_ed25519_key
Before=ssh.service
[Service]
Type=oneshot
ExecStart=/usr/bin/ssh-keygen -A
[Install]
WantedBy=multi-user.target
"""
_KEYS = "ssh-host-keys.service"
_MADE_AT_FIRST = ("var/lib/dbus/machine-id", "var/lib/systemd/random-seed")


def kernel_words(recipe: ImageRecipe) -> str:
    """Return the kernel's command line."""
    consoles = f"console={recipe.console}" if recipe.console else ""
    return " ".join(filter(None, [f"root=UUID={ROOT_UUID}", "ro", consoles, recipe.words]))


def lay_files(tree: FileTree, recipe: ImageRecipe, release: str) -> None:
    """Lay the files over the installed packages in `tree`; `release` is the kernel's."""
    for path in ("boot/efi", "proc", "sys", "dev", "run", "tmp"):
        if path not in tree:
            tree.add_directory(path, 0o1777 if path == "tmp" else 0o755)
    tree.add_file("etc/fstab", _FSTAB.encode())
    tree.add_file("etc/hostname", b"debian\n")
    tree.add_file("etc/hosts", b"127.0.0.1 localhost\n127.0.1.1 debian\n::1 localhost\n")
    tree.add_file("etc/systemd/network/50-dhcp.network", _NETWORK.encode())
    tree.add_link(f"{_WANTED}/systemd-networkd.service", "/lib/systemd/system/systemd-networkd.service")
    tree.add_file(f"{GRUB_FOLDER}/grub.cfg", _grub_menu(recipe, release).encode())
    _let_root_in(tree)
    if "usr/bin/cloud-init" in tree:
        tree.add_file(f"{_CLOUD_SEED}/meta-data", b"instance-id: i-bootlab-1\nlocal-hostname: debian\n")
        tree.add_file(f"{_CLOUD_SEED}/user-data", b"#cloud-config\n")
    if recipe.first_boot_clean:
        _forget_identity(tree)
        if "usr/bin/cloud-init" not in tree:
            tree.add_file(f"etc/systemd/system/{_KEYS}", _KEYS_UNIT.encode())
            tree.add_link(f"{_WANTED}/{_KEYS}", f"/etc/systemd/system/{_KEYS}")


def _grub_menu(recipe: ImageRecipe, release: str) -> str:
    # As update-grub writes it, of one kernel.
    return f"""set default=0
set timeout_style=menu
set timeout={recipe.menu_s}
insmod part_gpt
insmod ext2
search --no-floppy --fs-uuid --set=root {ROOT_UUID}
serial --speed=115200
terminal_input console serial
terminal_output console serial
menuentry 'Debian GNU/Linux' {{
	insmod gzio
	insmod part_gpt
	insmod ext2
	search --no-floppy --fs-uuid --set=root {ROOT_UUID}
	echo 'Loading Linux {release} ...'
	linux /boot/vmlinuz-{release} {kernel_words(recipe)}
	echo 'Loading initial ramdisk ...'
	initrd /boot/initrd.img-{release}
}}
"""


def _let_root_in(tree: FileTree) -> None:
    # Without a password, on the console alone: ssh takes no empty one.
    shadow = tree.find("etc/shadow")
    if shadow is not None:
        lines = [_unlocked(line) for line in shadow.data.decode().splitlines()]
        tree.add(Entry(shadow.path, shadow.mode, "".join(f"{line}\n" for line in lines).encode(), owner=shadow.owner))


def _unlocked(line: str) -> str:
    name, _, rest = line.partition(":")
    return f"{name}::{rest.partition(':')[2]}" if name == "root" else line


def _forget_identity(tree: FileTree) -> None:
    for entry in tree.entries():
        if entry.path.startswith("etc/ssh/ssh_host_") and stat.S_ISREG(entry.mode):
            tree.remove(entry.path)
    for path in _MADE_AT_FIRST:
        tree.remove(path)
    tree.add_file("etc/machine-id", b"")
