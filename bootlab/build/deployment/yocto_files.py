"""A change in Yocto's forms: a layer with appends to the kernel's and U-Boot's recipes, and a file of settings.

bitbake-layers add-layer CHANGES/yocto/meta-bootlab
echo 'require conf/bootlab.conf' >> conf/local.conf
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from bootlab.build.deployment.carried import Carried
from bootlab.build.deployment.differences import KeyDifference
from bootlab.build.source.config_text import option_line
from bootlab.system import Compression, System

_LAYER: Final = PurePosixPath("yocto/meta-bootlab")
_CONF: Final = _LAYER / "conf/bootlab.conf"
_KERNEL_RECIPE: Final = "linux-yocto"
_KERNEL_PROVIDER: Final = "PREFERRED_PROVIDER_virtual/kernel"
_SERIES: Final = "kirkstone langdale mickledore nanbield scarthgap styhead walnascar whinlatter wrynose blacksail"
"""Names of OE-core's releases since 2022, for a layer of a build that does not say its own."""
_SERIES_NAME: Final = "LAYERSERIES_CORENAMES"
# Where the words of the kernel's command line go: images with a bootloader, runqemu, U-Boot's extlinux.conf.
_WORDS: Final = ("APPEND", "QB_KERNEL_CMDLINE_APPEND", "UBOOT_EXTLINUX_KERNEL_ARGS")
_OPTIONS: Final = "kernel.build.options."
_UBOOT_OPTIONS: Final = "bootloader.options."
_ARCHIVES: Final = {Compression.NONE: "cpio", Compression.GZIP: "cpio.gz", Compression.ZSTD: "cpio.zst"}


def yocto_files(
    made: Carried, after: System, left: Mapping[str, KeyDifference], settings: Mapping[str, str]
) -> list[str]:
    """Add Yocto's files to `made`, and return the keys that they carry; `settings` are variables of its build."""
    taken: list[str] = []
    recipe = settings.get(_KERNEL_PROVIDER, _KERNEL_RECIPE)
    appends = (
        ("recipes-kernel/linux", recipe, "kernel", _OPTIONS, "kernel-yocto merges it"),
        ("recipes-bsp/u-boot", "u-boot", "u-boot", _UBOOT_OPTIONS, "u-boot-configure.inc merges it"),
    )
    for folder, name, part, start, how in appends:
        mine = {key: str(one.after) for key, one in left.items() if key.startswith(start) and one.after}
        patches = _copy_patches(made, part, _LAYER / folder / name)
        sources = [f"file://{one}" for one in patches]
        if mine:
            taken += mine
            place = _LAYER / folder / name / "bootlab.cfg"
            text = "".join(f"{option_line(key.removeprefix(start), value)}\n" for key, value in mine.items())
            made.add(place, text, f"Yocto's configuration of {name}: {how}")
            sources.insert(0, "file://bootlab.cfg")
        if sources:
            text = f'FILESEXTRAPATHS:prepend := "${{THISDIR}}/{name}:"\nSRC_URI += "{" ".join(sources)}"\n'
            made.add(_LAYER / folder / f"{name}_%.bbappend", text, f"bitbake: adds the files to the recipe {name}")
    lines = []
    if made.words or made.lost_words:
        taken.append("kernel.cmdline")
        for variable in _WORDS:
            if made.words:
                lines.append(f'{variable}:append = " {_quoted(" ".join(made.words))}"')
            if made.lost_words:
                lines.append(f'{variable}:remove = "{_quoted(" ".join(made.lost_words))}"')
    key = "initramfs.compression"
    if key in left and after.initramfs is not None:
        taken.append(key)
        how = after.initramfs.compression
        lines.append(f'INITRAMFS_FSTYPES = "{_ARCHIVES.get(how, f"cpio.{how.value}")}"')
    if lines:
        made.add(_CONF, "\n".join(lines) + "\n", "Yocto's conf/local.conf: require conf/bootlab.conf")
    if any(path.is_relative_to(_LAYER) for path in (*made.files, *made.copies)):
        made.add(_LAYER / "conf/layer.conf", _layer(settings), "Yocto: bitbake-layers add-layer yocto/meta-bootlab")
    return taken


def _copy_patches(made: Carried, part: str, folder: PurePosixPath) -> list[str]:
    names = []
    for place, source in list(made.copies.items()):
        if place.parts[:2] == (part, "patches"):
            made.copies[folder / place.name] = source
            made.uses[folder / place.name] = "bitbake: a patch that the .bbappend beside it names"
            names.append(place.name)
    return names


def _layer(settings: Mapping[str, str]) -> str:
    series = settings.get(_SERIES_NAME, _SERIES)
    return (
        'BBPATH .= ":${LAYERDIR}"\n'
        'BBFILES += "${LAYERDIR}/recipes-*/*/*.bbappend"\n'
        'BBFILE_COLLECTIONS += "bootlab"\n'
        'BBFILE_PATTERN_bootlab = "^${LAYERDIR}/"\n'
        'BBFILE_PRIORITY_bootlab = "10"\n'
        'LAYERDEPENDS_bootlab = "core"\n'
        f'LAYERSERIES_COMPAT_bootlab = "{series}"\n'
    )


def _quoted(text: str) -> str:
    # Between double quotes bitbake takes all but a quote and ${...}, of which the first has no way around.
    return re.sub(r"\$(?=\{)", "$$", text.replace('"', "'"))
