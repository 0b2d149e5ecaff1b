"""The files that a changed system becomes: what each tool reads, the steps that make it heed them, what is by hand.

Every key that differs is either in a file or said to be done by hand: none is left out.
"""

from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from bootlab.build.deployment.buildroot_files import buildroot_files
from bootlab.build.deployment.carried import ROOT, Builder, Carried
from bootlab.build.deployment.differences import KeyDifference, differences
from bootlab.build.deployment.yocto_files import yocto_files
from bootlab.build.source.config_text import option_line
from bootlab.system import Compression, Kernel, System

_GRUB: Final = ROOT / "etc/default/grub.d/90-bootlab.cfg"
_INITRAMFS_TOOLS: Final = ROOT / "etc/initramfs-tools/conf.d/90-bootlab"
_INITRAMFS_MODULES: Final = ROOT / "usr/share/initramfs-tools/modules.d/90-bootlab"
_DRACUT: Final = ROOT / "etc/dracut.conf.d/90-bootlab.conf"
_MKOSI: Final = PurePosixPath("mkosi.conf.d/90-bootlab.conf")
_KERNEL_FRAGMENT: Final = PurePosixPath("kernel/bootlab.config")
_UBOOT_FRAGMENT: Final = PurePosixPath("u-boot/bootlab.config")
_MACHINE: Final = "it is the machine's: set it where the machine is started"
# Fields of a recipe of bootlab's own, for which no other tool has a file.
_RECIPE: Final = "build the image so"


_Left = dict[str, KeyDifference]


def carried(
    before: System,
    after: System,
    builders: Collection[Builder] = (Builder.DEBIAN,),
    settings: Mapping[str, str] | None = None,
) -> Carried:
    """Return what makes `after` out of `before` where that is built, in the forms of these builders.

    `settings`: the configuration that such a builder has already, name -> value, to be added to.
    """
    made = Carried()
    left = differences(before, after)
    taken = [*_command_line(made, before, after, left), *_kernel(made, left), *_bootloader(made, left)]
    if Builder.DEBIAN in builders:
        taken += [
            *_debian_words(made, left),
            *_initramfs(made, before, after, left),
            *_image(made, before, after, left),
        ]
    if Builder.BUILDROOT in builders:
        taken += buildroot_files(made, after, left, settings or {})
    if Builder.YOCTO in builders:
        taken += yocto_files(made, after, left, settings or {})
    for key, difference in left.items():
        if key not in taken:
            made.by_hand.setdefault(key, f"{difference.words}: {_advice(key)}")
    return made


def _command_line(made: Carried, before: System, after: System, left: _Left) -> list[str]:
    if "kernel.cmdline" not in left:
        return []
    old, new = before.kernel.cmdline.split(), after.kernel.cmdline.split()
    made.words = [word for word in new if word not in old]
    made.lost_words = [word for word in old if word not in new]
    if after.image is None:
        # With an image these words are added to those of its bootloader, and are not the whole line.
        place = PurePosixPath("kernel/cmdline")
        made.files[place] = f"{after.kernel.cmdline}\n"
        made.uses[place] = "all the words: QEMU's -append, Firecracker's boot_args, a UKI"
    return []


def _debian_words(made: Carried, left: _Left) -> list[str]:
    if made.words:
        words = " ".join(made.words)
        quoted = words.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
        made.add(_GRUB, f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {quoted}"\n', "GRUB, after update-grub")
        made.add(_MKOSI, f"[Content]\nKernelCommandLine={words}\n", "mkosi, beside its own configuration")
    if made.lost_words:
        made.by_hand["kernel.cmdline"] = f"take out of what the bootloader says: {' '.join(made.lost_words)}"
    return ["kernel.cmdline"] if "kernel.cmdline" in left else []


def _kernel(made: Carried, left: _Left) -> list[str]:
    start = "kernel.build.options."
    mine = [key for key in left if key.startswith(start)]
    lines = [option_line(key.removeprefix(start), str(left[key].after)) for key in mine if left[key].after]
    if lines:
        made.add(
            _KERNEL_FRAGMENT,
            "\n".join(lines) + "\n",
            "the kernel's scripts/kconfig/merge_config.sh; Buildroot's and Yocto's configuration fragments",
        )
    for key in mine:
        if not left[key].after:
            made.by_hand[key] = f"{left[key].before}: no longer asked for"
    return [*mine, *_patches(made, "kernel", "kernel.build.patches", left)]


def _bootloader(made: Carried, left: _Left) -> list[str]:
    start = "bootloader.options."
    # An option without a value, PREBOOT="" say, is one that is asked for.
    mine = [key for key in left if key.startswith(start) and left[key].after is not None]
    if mine:
        lines = [option_line(key.removeprefix(start), str(left[key].after)) for key in mine]
        made.add(_UBOOT_FRAGMENT, "\n".join(lines) + "\n", "U-Boot's scripts/kconfig/merge_config.sh")
    return [*mine, *_patches(made, "u-boot", "bootloader.patches", left)]


def _patches(made: Carried, folder: str, key: str, left: _Left) -> list[str]:
    if key not in left or not set(left[key].before or ()) <= set(left[key].after or ()):
        return []
    new = [Path(one) for one in left[key].after if one not in (left[key].before or ())]
    for number, path in enumerate(new, 1):
        place = PurePosixPath(folder, "patches", f"{number:04d}-{path.name}")
        made.copies[place] = path
        made.uses[place] = "patch -p1, or git apply, in the source tree"
    return [key]


def _initramfs(made: Carried, before: System, after: System, left: _Left) -> list[str]:
    if "image.keep_modules" in left and after.image is not None and after.image.keep_modules is not None:
        _keep_modules(made, after.image.keep_modules)
        return ["image.keep_modules"]
    new = after.initramfs
    if new is None or before.initramfs is None:
        return []
    taken = []
    key = "initramfs.compression"
    if key in left:
        taken.append(key)
        made.add(_DRACUT, f'compress="{_DRACUT_NAMES.get(new.compression, new.compression.value)}"\n', "dracut")
        if new.compression is Compression.NONE:
            made.by_hand[key] = (
                f"{left[key].words}: initramfs-tools always compresses, dracut need not; with mkosi CompressOutput=no "
                "stands in the configuration of the initrd, not in that of the image"
            )
        else:
            name = _TOOLS_NAMES.get(new.compression, new.compression.value)
            made.add(_INITRAMFS_TOOLS, f"COMPRESS={name}\n", "initramfs-tools, after update-initramfs -u")
    for key, modules in (("initramfs.modules", new.modules), ("initramfs.keep_modules", new.keep_modules)):
        if key in left and modules is not None and "*" not in modules:
            taken.append(key)
            _keep_modules(made, modules)
    return taken


def _keep_modules(made: Carried, modules: Collection[str]) -> None:
    made.add(_INITRAMFS_TOOLS, "MODULES=list\n", "initramfs-tools, after update-initramfs -u")
    made.add(_INITRAMFS_MODULES, "".join(f"{one}\n" for one in modules), "initramfs-tools: the modules to take")
    made.add(_DRACUT, f'drivers=" {" ".join(modules)} "\n', "dracut")


_TOOLS_NAMES: Final = {Compression.LZO: "lzop"}
_DRACUT_NAMES: Final = {Compression.NONE: "cat", Compression.LZO: "lzo"}


def _image(made: Carried, before: System, after: System, left: _Left) -> list[str]:
    taken = []
    if "image.menu_s" in left and after.image is not None and after.image.menu_s is not None:
        taken.append("image.menu_s")
        seconds = after.image.menu_s
        made.add(
            _GRUB,
            f"GRUB_TIMEOUT={seconds}\nGRUB_TIMEOUT_STYLE={'menu' if seconds else 'hidden'}\n",
            "GRUB, after update-grub",
        )
        made.by_hand["image.menu_s"] = f"where systemd-boot is the loader: timeout {seconds} in loader/loader.conf"
    if after.image is not None:
        old = before.image.files if before.image is not None else {}
        taken += _texts(made, old, after.image.files, "image.files", left)
    if after.rootfs is not None:
        old = before.rootfs.texts if before.rootfs is not None else {}
        taken += _texts(made, old, after.rootfs.texts, "rootfs.texts", left)
    if "image.loader" in left and after.image is not None and after.image.loader == "uki":
        taken.append("image.loader")
        made.by_hand["image.loader"] = "a unified kernel image: layout=uki in /etc/kernel/install.conf; ukify makes it"
    if "image.loader" in left and after.image is not None and after.image.loader == "efi-stub":
        taken.append("image.loader")
        made.by_hand["image.loader"] = (
            "a boot entry of the machine's firmware, with kernel and initramfs on the EFI system partition: efibootmgr "
            "--create --loader '\\EFI\\BOOT\\VMLINUZ.EFI' --unicode 'initrd=\\EFI\\BOOT\\INITRD.IMG WORDS'"
        )
    if "image.loader" in left and after.image is not None and after.image.loader == "direct":
        taken.append("image.loader")
        made.by_hand["image.loader"] = (
            "the host keeps the image's kernel, initramfs and command line: QEMU's -kernel, -initrd and -append, "
            "libvirt's <kernel>, <initrd> and <cmdline>"
        )
    return taken


def _texts(made: Carried, old: Mapping[str, str], new: Mapping[str, str], key: str, left: _Left) -> list[str]:
    # A file that is no longer written is done by hand.
    taken = []
    for path, text in new.items():
        taken += [name for name in (key, f"{key}.{path}") if name in left]
        if old.get(path) != text:
            place = ROOT / path.lstrip("/")
            made.files[place] = text
            made.uses[place] = "the system itself"
    return taken


def _advice(key: str) -> str:
    part, _, rest = key.partition(".")
    if part in ("machine", "clock", "disks", "network", "storage", "board_model") or key == "kernel.entry":
        return _MACHINE
    if part == "kernel" and rest.partition(".")[0] in Kernel.model_fields:
        return "choose this kernel"
    if part in ("initramfs", "rootfs"):
        return _RECIPE
    return "set it so"
