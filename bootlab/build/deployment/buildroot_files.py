"""A change in Buildroot's forms: an external tree of fragments, patches and a script, and lines of .config for it.

    make -C BUILDROOT O=OUTPUT BR2_EXTERNAL=CHANGES/buildroot olddefconfig    (after merging bootlab.config)

Buildroot writes the kernel's command line nowhere by itself: boards do, in files that the script here adds words to.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from bootlab.build.deployment.carried import MADE_BY, Carried
from bootlab.build.deployment.differences import KeyDifference
from bootlab.build.source.config_text import option_line
from bootlab.system import Compression, System

_TREE: Final = PurePosixPath("buildroot")
_NAME: Final = "BOOTLAB_CHANGES"
_HERE: Final = f"$(BR2_EXTERNAL_{_NAME}_PATH)"
_CONFIG: Final = _TREE / "bootlab.config"
_SCRIPT: Final = _TREE / "add-words.sh"
_OPTIONS: Final = "kernel.build.options."
_UBOOT_OPTIONS: Final = "bootloader.options."
_KERNEL_COMPRESSIONS: Final = ("GZIP", "LZ4", "LZMA", "LZO", "XZ", "ZSTD", "UNCOMPRESSED")
"""Buildroot sets CONFIG_KERNEL_* itself, after the fragments, by options of the same endings (linux/linux.mk)."""
_STEPS: Final = """\
# BUILDROOT/support/kconfig/merge_config.sh -m -O OUTPUT OUTPUT/.config bootlab.config
# make -C BUILDROOT O=OUTPUT BR2_EXTERNAL=THIS_FOLDER olddefconfig
# make -C BUILDROOT O=OUTPUT linux-reconfigure all
"""


def buildroot_files(
    made: Carried, after: System, left: Mapping[str, KeyDifference], settings: Mapping[str, str]
) -> list[str]:
    """Add Buildroot's files to `made`, and return the keys that they carry; `settings` is its .config as it is."""
    taken: list[str] = []
    lines: list[str] = []

    def append(option: str, *values: str, before: bool = False) -> None:
        old = settings.get(option, "")
        words = [*values, *([old] if old else []), *values] if before else [*([old] if old else []), *values]
        lines.append(f'{option}="{" ".join(words)}"')

    kernel = {key: str(one.after) for key, one in left.items() if key.startswith(_OPTIONS) and one.after}
    if kernel:
        taken += kernel
        options = {key.removeprefix(_OPTIONS): value for key, value in kernel.items()}
        text = "".join(f"{option_line(name, value)}\n" for name, value in options.items())
        made.add(_TREE / "linux.fragment", text, "Buildroot's kernel: BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES")
        append("BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES", f"{_HERE}/linux.fragment")
        lines += [f"BR2_LINUX_KERNEL_{one}=y" for one in _KERNEL_COMPRESSIONS if options.get(f"KERNEL_{one}") == "y"]
    uboot = {key: str(one.after) for key, one in left.items() if key.startswith(_UBOOT_OPTIONS) and one.after}
    if uboot:
        taken += uboot
        text = "".join(f"{option_line(key.removeprefix(_UBOOT_OPTIONS), value)}\n" for key, value in uboot.items())
        made.add(_TREE / "uboot.fragment", text, "Buildroot's U-Boot: BR2_TARGET_UBOOT_CONFIG_FRAGMENT_FILES")
        append("BR2_TARGET_UBOOT_CONFIG_FRAGMENT_FILES", f"{_HERE}/uboot.fragment")
    if _copy_patches(made):
        append("BR2_GLOBAL_PATCH_DIR", f"{_HERE}/patches")
    if made.words or made.lost_words:
        taken.append("kernel.cmdline")
        made.files[_SCRIPT] = _words_script(made.words, made.lost_words)
        made.uses[_SCRIPT] = "Buildroot's post-build and post-image script: the words of the kernel's command line"
        append("BR2_ROOTFS_POST_BUILD_SCRIPT", f"{_HERE}/{_SCRIPT.name}")
        # Before a board's script that makes an image, and behind the one that writes start-qemu.sh.
        append("BR2_ROOTFS_POST_IMAGE_SCRIPT", f"{_HERE}/{_SCRIPT.name}", before=True)
    key = "initramfs.compression"
    if key in left and after.initramfs is not None:
        taken.append(key)
        lines.append(f"BR2_TARGET_ROOTFS_CPIO_{_archive_word(after.initramfs.compression)}=y")
    if lines:
        made.add(_CONFIG, _STEPS + "\n".join(lines) + "\n", "Buildroot's .config: merge_config.sh, then make")
        _external_tree(made)
    return taken


def _archive_word(compression: Compression) -> str:
    return compression.value.upper()


def _copy_patches(made: Carried) -> bool:
    copied = False
    for place, source in list(made.copies.items()):
        package = {"kernel": "linux", "u-boot": "uboot"}.get(place.parts[0])
        if package is not None and place.parts[1] == "patches":
            there = _TREE / "patches" / package / place.name
            made.copies[there] = source
            made.uses[there] = f"Buildroot's patches to {package}: BR2_GLOBAL_PATCH_DIR"
            copied = True
    return copied


def _external_tree(made: Carried) -> None:
    # What makes a folder an external tree of Buildroot's (its manual, "Keeping customizations outside of Buildroot").
    for name, text in (
        ("external.desc", f"name: {_NAME}\ndesc: what makes this system boot sooner, as bootlab measured it\n"),
        ("Config.in", MADE_BY),
        ("external.mk", MADE_BY),
    ):
        made.files[_TREE / name] = text
        made.uses[_TREE / name] = "Buildroot: what makes this folder one for BR2_EXTERNAL"


def _words_script(words: list[str], lost: list[str]) -> str:
    calls = [f"    change {shlex.quote(word)} {_sed(word, shell=False)} {_sed(word, shell=True)} add" for word in words]
    calls += [
        f"    change {shlex.quote(word)} {_sed(word, shell=False)} {_sed(word, shell=True)} drop" for word in lost
    ]
    return _WORDS_SCRIPT.replace("@CALLS@", "\n".join(calls))


def _sed(word: str, *, shell: bool) -> str:
    # For the replacement of sed's s#..#..#, and where start-qemu.sh has it between double quotes, for that shell too.
    text = re.sub(r'([\\"$`])', r"\\\1", word) if shell else word
    return shlex.quote(re.sub(r"([\\&#])", r"\\\1", text))


_WORDS_SCRIPT: Final = r"""#!/bin/sh
# Written by bootlab apply. Changes words of the kernel's command line wherever this build has written one.
# Buildroot runs it after its target is built, and before and after the scripts that make images of it.
set -eu

# change WORD WORD-FOR-SED WORD-FOR-SED-IN-A-SHELL-SCRIPT add|drop: in $file, on the lines that $lines matches.
change() {
    case $file in
    # Between double quotes, as Buildroot's boards write it.
    */start-qemu.sh) text=$3 line='\(-append "\(\\.\|[^"\\]\)*\)"' ended='\1 @\"' edge='"' ;;
    *) text=$2 line="\\($lines.*\\)" ended='\1 @' edge= ;;
    esac
    plain=$(printf '%s' "$text" | sed 's/[].[^$*]/\\&/g')
    # Taken out first, wherever it stands: a word that is there is not there twice.
    sed -i -e "s#\\(^\\|[ $edge]\\)$plain  *#\\1#g" -e "s#  *$plain\\(\$\\|[ $edge]\\)#\\1#g" "$file"
    if [ "$4" = add ]; then
        sed -i "s#$line#${ended%@*}$text${ended#*@}#" "$file"
    fi
}

changed=no
words_in() {
    file=$1 lines=$2
    [ -f "$file" ] || return 0
@CALLS@
    changed=yes
    echo "bootlab: command line of $file"
}

words_in "$BINARIES_DIR/start-qemu.sh" ''
words_in "$BINARIES_DIR/rpi-firmware/cmdline.txt" '^.'
for folder in "$BINARIES_DIR" "$BINARIES_DIR/efi-part/EFI/BOOT" "$TARGET_DIR/boot/grub" "$TARGET_DIR/boot/grub2"; do
    words_in "$folder/grub.cfg" '^[[:space:]]*linux[a-z0-9]*[[:space:]]'
done
for folder in "$BINARIES_DIR" "$BINARIES_DIR/extlinux" "$TARGET_DIR/boot/extlinux" "$TARGET_DIR/boot/syslinux"; do
    words_in "$folder/extlinux.conf" '^[[:space:]]*[aA][pP][pP][eE][nN][dD][[:space:]]'
    words_in "$folder/syslinux.cfg" '^[[:space:]]*[aA][pP][pP][eE][nN][dD][[:space:]]'
done
for file in "$BINARIES_DIR"/efi-part/loader/entries/*.conf; do
    words_in "$file" '^options[[:space:]]'
done
if [ "$changed" = no ] && [ "${1:-}" = "$BINARIES_DIR" ]; then
    echo "bootlab: no file here says the kernel's command line: change it where your bootloader has it" >&2
fi
"""
