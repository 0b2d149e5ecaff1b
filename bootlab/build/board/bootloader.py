"""U-Boot from source: `Bootloader` -> SPL and U-Boot proper, in one entry of the cache.

The same mechanisms as a kernel's: every option that was asked for is proved to be in the final configuration, objects
stay between builds, and an entry's key is what decides its bytes. OpenSBI, which runs between the two on riscv64, is
not built: U-Boot's make packs it with U-Boot proper.
"""

import json
import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from bootlab.build.cache import file_sha256
from bootlab.build.debian import packages
from bootlab.build.source.config_text import Asked, collect, parse_config
from bootlab.build.source.configure import Configuration, configure
from bootlab.build.source.make import PYTHON, BuildFailed, ObjectFolder, require_buildable
from bootlab.build.source.origin import SourceTree, require_source
from bootlab.build.source.toolchain import has_header, require_toolchain, require_tools
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError, MissingTool
from bootlab.process import ProgramFailed, run
from bootlab.system import SECTOR, Board, Bootloader, CardLayout, SourceBuild

_FORMAT = 1
_PARTS = {"spl": "spl/u-boot-spl", "spl.bin": "spl/u-boot-spl.bin", "u-boot": "u-boot", "config": ".config"}
"""Name in the entry -> place below the objects. The first and third are ELF files with symbols."""
_OPENSBI = "opensbi.bin"
_KERNEL = "Image"
_STARTS_LINUX = "SPL_LOAD_FIT_OPENSBI_OS_BOOT"
"""SPL's option for OpenSBI to start Linux, and not U-Boot proper (FlashLayout.falcon_options)."""
_OPENSBI_PACKAGE = "opensbi"
_OPENSBI_FILE = "usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin"
"""The firmware that takes from SPL what it is to start, for every machine that describes itself by a device tree."""
_HEADERS = {
    "Python's headers": ("Python.h", "python3-dev"),
    "OpenSSL's headers": ("openssl/bio.h", "libssl-dev"),
    "GnuTLS's headers": ("gnutls/gnutls.h", "libgnutls28-dev"),
    "libuuid's headers": ("uuid/uuid.h", "uuid-dev"),
}
_MODULES = {"setuptools": "python3-setuptools", "elftools": "python3-pyelftools"}
"""What U-Boot's own tools import, and its Debian packages."""
_ATAGS = dict.fromkeys(("SUPPORT_PASSING_ATAGS", "SETUP_MEMORY_TAGS", "CMDLINE_TAG", "INITRD_TAG"), "y")
"""Options by which U-Boot proper tells a kernel without a device tree in ATAGs what it else writes into the tree."""
_OVERFLOW = re.compile(r"section `\.\w+' will not fit in region|region `\.sram' overflowed by (\d+) bytes")


@dataclass(frozen=True, slots=True)
class FalconPlaces:
    """Where on the card SPL looks for the args and the kernel, in bytes."""

    args_at: int
    args_size: int
    kernel_at: int


@dataclass(frozen=True, slots=True)
class BuiltBootloader:
    """A bootloader that was built; every path is in one entry of the cache, never to be changed."""

    image: Path
    """What the board's medium begins with: of an SD card SPL and U-Boot proper, of a flash chip all but SPL."""
    spl: Path
    """The first stage as it was linked, an ELF file with its symbols."""
    spl_image: Path
    """What of it is loaded."""
    uboot: Path
    """U-Boot proper, the same."""
    opensbi: Path | None
    """The OpenSBI that was packed with it, as it lies in memory; None where there is none."""
    config: Path
    """The final .config."""
    log: Path
    """What make wrote."""
    version: str
    seconds: float
    """Host time that the build took, whenever that was."""
    from_cache: bool

    @property
    def options(self) -> dict[str, str]:
        """Return option -> value, of those that are not off."""
        return parse_config(self.config.read_text(encoding="utf-8"))

    @property
    def opensbi_at(self) -> int:
        """Return the physical address to which SPL loads OpenSBI; 0 where there is none."""
        return int(self.options.get("SPL_OPENSBI_LOAD_ADDR", "0"), 16)

    @property
    def spl_limit(self) -> int | None:
        """Return how many bytes of SPL the board loads at most; None when the configuration does not say."""
        return _spl_limit(self.options)

    @property
    def loads_kernel(self) -> bool:
        """Return whether SPL starts a kernel itself, from a card or a flash chip."""
        return self.falcon is not None or self.options.get(_STARTS_LINUX) == "y"

    @property
    def falcon(self) -> FalconPlaces | None:
        """Return where on its card SPL looks for a kernel; None for one that loads no kernel from a card."""
        options = self.options
        names = ("ARGS_SECTOR", "ARGS_SECTORS", "KERNEL_SECTOR")
        sectors = [options.get(f"SYS_MMCSD_RAW_MODE_{name}") for name in names]
        if options.get("SPL_OS_BOOT") != "y" or None in sectors:
            return None
        return FalconPlaces(*(int(one, 0) * SECTOR for one in sectors if one is not None))


def build_bootloader(
    shop: Workshop, build: Bootloader, board: Board, arch: str, *, appended_tree: bool = False
) -> BuiltBootloader:
    """Return the bootloader that `build` describes for `board`, whose CPU is `arch`, built unless the cache has it.

    `appended_tree`: the kernel on its card has the device tree behind itself. Raises InputError (options that did not
    survive, no such source, a patch that does not apply, an SPL too large for the board), MissingTool, BuildFailed,
    StoreError, Unreachable.
    """
    toolchain = require_toolchain(arch)
    patching = [("patch", "patch")] if build.patches else []
    absent = {words: package for words, (package, found) in bootloader_parts().items() if not found}
    programs = [("swig", "swig"), ("openssl", "openssl"), *patching]
    require_tools(toolchain, {}, programs, what="bootloader", absent=absent)
    build = build if build.base or build.config else build.model_copy(update={"base": board.base})
    if build.opensbi is not None and not board.opensbi:
        raise InputError("bootloader.opensbi: SPL of this board starts no OpenSBI, which is a firmware of riscv64")
    opensbi = _require_opensbi(shop, build) if board.opensbi else None
    source = require_source(shop, build)
    require_buildable(source, shop.cache)
    configuration = configure(shop, build, source, toolchain, ask=lambda one: _asked(one, build, board, appended_tree))
    if not build.falcon and configuration.options.get(_STARTS_LINUX) == "y":
        raise InputError(
            f"bootloader: {_STARTS_LINUX} is on, and with it U-Boot proper is not packed",
            hint="bootloader.falcon = true asks for it, and has the kernel packed in its place",
        )
    folder = ObjectFolder(shop.cache, source, toolchain, "bootloader")
    packed = [] if opensbi is None else [file_sha256(opensbi)]
    image = board.falcon_image if build.falcon else board.image
    key = json.dumps([_FORMAT, source.identity, image, arch, toolchain.identity, configuration.text, *packed])
    entry = shop.cache.find("bootloader", key)
    from_cache = entry is not None
    if entry is None:
        job = _BootloaderJob(shop, source, configuration, image, opensbi, folder)
        entry = shop.cache.make("bootloader", key, job.write)
    about = json.loads((entry / "build.json").read_text(encoding="utf-8"))
    return BuiltBootloader(
        image=entry / image,
        spl=entry / "spl",
        spl_image=entry / "spl.bin",
        uboot=entry / "u-boot",
        opensbi=entry / _OPENSBI if opensbi is not None else None,
        config=entry / "config",
        log=entry / "build.log",
        version=str(about["version"]),
        seconds=float(about["seconds"]),
        from_cache=from_cache,
    )


def falcon_options(card: CardLayout, *, appended_tree: bool = False) -> dict[str, str]:
    """Return what Falcon mode from `card` asks of U-Boot: option -> value.

    With an `appended_tree` the args are one sector, the fewest that SPL reads.
    """
    args_size = SECTOR if appended_tree else card.args_size
    return {
        "SPL_OS_BOOT": "y",
        "SPL_FALCON_BOOT_MMCSD": "y",
        "SPL_PAYLOAD_ARGS_ADDR": hex(card.args_address),
        "SYS_MMCSD_RAW_MODE_ARGS_SECTOR": hex(card.args_at // SECTOR),
        "SYS_MMCSD_RAW_MODE_ARGS_SECTORS": hex(args_size // SECTOR),
        "SYS_MMCSD_RAW_MODE_KERNEL_SECTOR": hex(card.kernel_at // SECTOR),
        **card.options,
    }


def _asked(changed: SourceBuild, build: Bootloader, board: Board, appended_tree: bool) -> dict[str, Asked]:
    ours = {name: Asked(name, value, "machine.type") for name, value in board.options.items()}
    if build.falcon:
        asked = _falcon_options(board, appended_tree=appended_tree)
        ours |= {name: Asked(name, value, "bootloader.falcon") for name, value in asked.items()}
    if appended_tree:
        ours |= {name: Asked(name, value, "card.device_tree") for name, value in _ATAGS.items()}
    return {**ours, **collect(changed)}


def _falcon_options(board: Board, *, appended_tree: bool) -> dict[str, str]:
    if board.card is not None:
        return falcon_options(board.card, appended_tree=appended_tree)
    assert board.flash is not None  # each board has one of the two
    return board.flash.falcon_options


def _require_opensbi(shop: Workshop, build: Bootloader) -> Path:
    if build.opensbi is not None:
        # make runs in a folder of its own.
        return build.opensbi.resolve()
    package = packages.fetch(shop, _OPENSBI_PACKAGE, build.suite, "riscv64", key="bootloader.opensbi")
    for note in package.notes:
        shop.tell(note)
    found = package.tree / _OPENSBI_FILE
    if not found.is_file():
        raise InputError(
            f"bootloader.suite: {_OPENSBI_PACKAGE} {package.version} of Debian {package.suite} has no /{_OPENSBI_FILE}",
            hint="bootloader.opensbi names a fw_dynamic.bin of yours",
        )
    return found


def _spl_limit(options: Mapping[str, str]) -> int | None:
    return int(options.get("SPL_MAX_SIZE", "0"), 16) or None


def bootloader_parts() -> dict[str, tuple[str, bool]]:
    """Return what U-Boot's build needs besides programs: words for it -> Debian package, and whether it is here."""
    parts = {}
    for words, (header, package) in _HEADERS.items():
        parts[words] = package, _has_python_header() if header == "Python.h" else has_header(header)
    for module, package in _MODULES.items():
        parts[f"{PYTHON}'s {module}"] = package, _asks_python(f"import {module}") is not None
    return parts


def _has_python_header() -> bool:
    code = "import os, sysconfig; print(os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    return _asks_python(code) == "True"


def _asks_python(code: str) -> str | None:
    """Return what Debian's own Python prints; None where it fails, or is not here."""
    try:
        return run([PYTHON, "-c", code], deadline_s=20).text.strip()
    except (ProgramFailed, MissingTool):
        return None


class _BootloaderJob:
    def __init__(
        self,
        shop: Workshop,
        source: SourceTree,
        configuration: Configuration,
        image: str,
        opensbi: Path | None,
        folder: ObjectFolder,
    ) -> None:
        self._shop = shop
        self._source = source
        self._config = configuration
        self._image = image
        self._opensbi = opensbi
        self._folder = folder

    def write(self, out: Path) -> None:
        folder = self._folder
        with folder.locked(self._shop.tell):
            self._shop.tell(f"building U-Boot {self._source.version}")
            began = time.monotonic()
            config = folder.objects / ".config"
            if not config.is_file() or config.read_text(encoding="utf-8") != self._config.text:
                config.write_text(self._config.text, encoding="utf-8")
            # U-Boot's make packs a kernel with OpenSBI in Falcon mode; which one is said when the chip is composed.
            (folder.objects / _KERNEL).touch()
            try:
                # U-Boot's make knows it by this variable alone.
                packed = [] if self._opensbi is None else [f"OPENSBI={self._opensbi}"]
                folder.make(["all"], self._shop.tell_compiled, variables=packed)
            except BuildFailed as error:
                self._explain(error)
            seconds = time.monotonic() - began
            folder.expect_same_source()
            out.mkdir()
            for name, place in {self._image: self._image, **_PARTS}.items():
                shutil.copyfile(folder.objects / place, out / name)
            shutil.copyfile(folder.log, out / "build.log")
        if self._opensbi is not None:
            shutil.copyfile(self._opensbi, out / _OPENSBI)
        about = {"seconds": round(seconds, 1), "version": self._source.version}
        (out / "build.json").write_text(json.dumps(about) + "\n", encoding="utf-8")

    def _explain(self, error: BuildFailed) -> NoReturn:
        found = next((one for one in _OVERFLOW.finditer(self._folder.log.read_text(errors="replace")) if one[1]), None)
        limit = _spl_limit(self._config.options)
        if found is None or limit is None:
            raise error
        raise InputError(
            f"bootloader: the SPL is {limit + int(found[1]):,} bytes, and this board loads at most {limit:,} "
            f"(CONFIG_SPL_MAX_SIZE)",
            hint="leave options of SPL out (SPL_*); SPL_BOOTSTAGE, SPL_LOG and file systems in SPL are the usual ones",
        ) from error
