"""A kernel from source: `KernelBuild` -> image, vmlinux, configuration and modules, in one entry of the cache.

An entry's key is what decides its bytes: source, final configuration, architecture, compiler, embedded initramfs. So
two systems that come to one configuration share one kernel, whatever words they used for it.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.kernel.objects import MAP_OPTION, collect_objects
from bootlab.build.kernel.order import KernelOrder
from bootlab.build.kernel.types import compile_types
from bootlab.build.source.config_text import INITRAMFS_FILE, collect_kernel, parse_config
from bootlab.build.source.configure import Configuration, configure
from bootlab.build.source.make import ObjectFolder, require_buildable
from bootlab.build.source.origin import SourceTree, require_source
from bootlab.build.source.toolchain import RUST, Toolchain, probe_tools, require_toolchain, require_tools
from bootlab.build.source.unknown_options import UnknownOption, remarks
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError
from bootlab.process import run
from bootlab.system import KernelBuild

_FORMAT = 2
_STRIP_DEADLINE_S = 120.0
_OBJECTS = "objects.json"
_TYPES = "types.o"
_DECOMPRESSORS = {"x86_64": "arch/x86/boot/compressed/vmlinux", "armv7": "arch/arm/boot/compressed/vmlinux"}
"""The ELF file of an image's own decompressor, of architectures whose image has one."""


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """A kernel that was built; every path is in one entry of the cache, never to be changed."""

    image: Path
    """What a boot loader gets: bzImage, Image or zImage."""
    vmlinux: Path
    """The ELF file as it was linked, with its symbols."""
    stripped: Path
    """The same without symbols: what is loaded where a machine starts an ELF kernel."""
    config: Path
    """The final .config."""
    system_map: Path
    decompressor: Path | None
    """The ELF file of the image's own decompressor; None for a bare Image, and where an older build did not keep it."""
    types: Path | None
    """Its struct layouts, for symbols.btf.read_btf(); None where the compiler could not, or an older build did not."""
    modules: Path
    """A folder with lib/modules/RELEASE: its modules, and the names of those that are built in."""
    objects: Path | None
    """What objects.read_objects() reads, of a kernel whose linker wrote a map (VMLINUX_MAP)."""
    log: Path
    """What make wrote."""
    release: str
    """As `uname -r` says it."""
    seconds: float
    """Host time that the build took, whenever that was."""
    from_cache: bool
    unknown: tuple[UnknownOption, ...] = ()
    """What the base of its configuration names and the source does not know."""
    remarks: tuple[str, ...] = ()
    """What a reader of its boots should know of how it was configured."""

    @property
    def options(self) -> dict[str, str]:
        """Return option -> value, of those that are not off."""
        return parse_config(self.config.read_text(encoding="utf-8"))


def build_kernel(
    shop: Workshop,
    build: KernelBuild,
    arch: str,
    *,
    initramfs: Path | None = None,
    expect: Callable[[Mapping[str, str]], None] = lambda options: None,
) -> BuiltKernel:
    """Return the kernel that `build` describes for `arch` (toolchain.ARCHITECTURES), built unless the cache has it.

    `initramfs`: a newc archive, not compressed, that goes into the image. `expect` gets the final options before
    anything is compiled, to refuse a kernel that would be of no use. Raises InputError (options that did not survive,
    no kernel source, a patch that does not apply), MissingTool, BuildFailed (the first error of the compiler),
    StoreError, Unreachable.
    """
    toolchain = require_toolchain(arch, rust=build.options.get(RUST) == "y")
    patching = (("patch", "patch"),) if build.patches else ()
    require_tools(toolchain, build.options, patching)
    source = require_source(shop, build)
    require_buildable(source, shop.cache)
    ask = partial(collect_kernel, embedded=initramfs is not None)
    configuration = configure(shop, build, source, toolchain, ask=ask)
    expect(configuration.options)
    order = KernelOrder(
        key=kernel_key(source, configuration, toolchain, initramfs),
        version=source.version,
        arch=arch,
        config=configuration.text,
        source=source.identity,
        objects=_objects_name(build),
        tools=compile_tools(toolchain),
        initramfs=None if initramfs is None else file_sha256(initramfs),
    )
    built = _read(*_entry(shop, order, source, initramfs))
    # Of this request: another one may have come to the same kernel.
    said = remarks(configuration.unknown, f"Linux {source.version}")
    return replace(built, unknown=configuration.unknown, remarks=said)


def compile_kernel(shop: Workshop, order: KernelOrder, source: SourceTree, initramfs: Path | None) -> Path:
    """Return the entry of the cache for the kernel that `order` describes, compiled on this host unless it is there.

    `initramfs`: the archive that the order names by its hash. Raises as `build_kernel`.
    """
    toolchain = require_toolchain(order.arch, rust=order.rust)
    folder = ObjectFolder(shop.cache, source, toolchain, order.objects)
    return shop.cache.make("kernel", order.key, _KernelJob(shop, order, source, toolchain, folder, initramfs).write)


def compile_tools(toolchain: Toolchain) -> dict[str, str]:
    """Return what kernels are compiled with on this host, as an order names it. Raises MissingTool, ProgramFailed."""
    return {"compiler": toolchain.identity, **probe_tools(rust=toolchain.rust)}


def _entry(shop: Workshop, order: KernelOrder, source: SourceTree, initramfs: Path | None) -> tuple[Path, bool]:
    if (entry := shop.cache.find("kernel", order.key)) is not None:
        return entry, True
    if shop.compile_place is not None:
        if source.in_place is not None:
            # Another host would compile all of it after each edit.
            shop.tell_once(f"{source.tree}: a tree in place, so its kernels are compiled on this host")
        elif (compiled := shop.compile_place.compile(shop, order, initramfs)) is not None:
            entry = shop.cache.find("kernel", order.key)
            assert entry is not None  # its promise
            return entry, not compiled
    return compile_kernel(shop, order, source, initramfs), False


def objects_of(build: KernelBuild, source: SourceTree, toolchain: Toolchain, cache: Cache) -> ObjectFolder:
    """Return where the objects of `build` stay: one folder for each base with its fragments.

    Kernels that differ in a few options share most of their objects; those of other systems would drive them out.
    """
    return ObjectFolder(cache, source, toolchain, _objects_name(build))


def _objects_name(build: KernelBuild) -> str:
    files = [] if build.config is None else [build.config]
    # By name and not by content: whoever edits a fragment changes a few options.
    words = " ".join(
        [build.base or "", build.config_package or "", *(path.name for path in (*files, *build.fragments))]
    )
    return f"build-{hashlib.sha256(words.encode()).hexdigest()[:12]}"


def kernel_key(source: SourceTree, configuration: Configuration, toolchain: Toolchain, initramfs: Path | None) -> str:
    """Return the key of a kernel in the cache: all that decides its bytes."""
    embedded = file_sha256(initramfs) if initramfs is not None else None
    return json.dumps([_FORMAT, source.identity, toolchain.arch, toolchain.identity, configuration.text, embedded])


class _KernelJob:
    def __init__(
        self,
        shop: Workshop,
        order: KernelOrder,
        source: SourceTree,
        toolchain: Toolchain,
        folder: ObjectFolder,
        initramfs: Path | None,
    ) -> None:
        self._shop = shop
        self._source = source
        self._order = order
        self._options = order.options
        self._toolchain = toolchain
        self._folder = folder
        self._initramfs = initramfs

    def write(self, out: Path) -> None:
        folder = self._folder
        with folder.locked(self._shop.tell):
            self._shop.tell(f"building {self._order.what}")
            began = time.monotonic()
            self._make(folder)
            seconds = time.monotonic() - began
            folder.expect_same_source()
            out.mkdir()
            self._collect(folder, out)
        about = {"seconds": round(seconds, 1), "image": Path(self._toolchain.image).name}
        (out / "build.json").write_text(json.dumps(about) + "\n", encoding="utf-8")

    def _make(self, folder: ObjectFolder) -> None:
        config = folder.objects / ".config"
        if not config.is_file() or config.read_text(encoding="utf-8") != self._order.config:
            config.write_text(self._order.config, encoding="utf-8")
        if self._initramfs is not None:
            # A copy is newer than what was made of the one before.
            shutil.copyfile(self._initramfs, folder.objects / INITRAMFS_FILE)
        targets = [self._toolchain.target, "vmlinux", *(["modules"] if self._has_modules else [])]
        folder.make(targets, self._shop.tell_compiled, debug=self._options.get("DEBUG_INFO") == "y")
        if config.read_text(encoding="utf-8") != self._order.config:
            raise BootlabError(
                f"{config}: kconfig has changed the finished configuration during the build",
                hint="please report it with the kernel's version; its log is beside that folder",
            )

    def _collect(self, folder: ObjectFolder, out: Path) -> None:
        objects = folder.objects
        for name, place in (
            (Path(self._toolchain.image).name, self._toolchain.image),
            ("vmlinux", "vmlinux"),
            ("System.map", "System.map"),
            ("config", ".config"),
            ("release", "include/config/kernel.release"),
        ):
            shutil.copyfile(objects / place, out / name)
        shutil.copyfile(folder.log, out / "build.log")
        if (decompressor := _DECOMPRESSORS.get(self._toolchain.arch)) is not None:
            shutil.copyfile(objects / decompressor, out / "decompressor")
        if self._options.get(MAP_OPTION) == "y" and (linked := collect_objects(objects, self._source.tree)) is not None:
            linked.save(out / _OBJECTS)
        if "DEBUG_INFO_BTF" not in self._options:
            compile_types(objects, out / _TYPES)
        objcopy = f"{self._toolchain.prefix}objcopy"
        run(
            [objcopy, "--strip-all", "--remove-section=.comment", out / "vmlinux", out / "vmlinux.stripped"],
            deadline_s=_STRIP_DEADLINE_S,
        )
        if self._has_modules:
            folder.configure(f"INSTALL_MOD_PATH={out / 'modules'}", "INSTALL_MOD_STRIP=1", "modules_install")
        release = (out / "release").read_text(encoding="utf-8").strip()
        modules = out / "modules" / "lib" / "modules" / release
        modules.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(objects / "modules.builtin", modules / "modules.builtin")
        for link in modules.iterdir():
            if link.is_symlink():
                # To the source and the objects, which other machines do not have.
                link.unlink()

    @property
    def _has_modules(self) -> bool:
        return "m" in self._options.values()


def _read(entry: Path, from_cache: bool) -> BuiltKernel:
    about = json.loads((entry / "build.json").read_text(encoding="utf-8"))
    decompressor = entry / "decompressor"
    return BuiltKernel(
        image=entry / about["image"],
        vmlinux=entry / "vmlinux",
        stripped=entry / "vmlinux.stripped",
        config=entry / "config",
        system_map=entry / "System.map",
        decompressor=decompressor if decompressor.is_file() else None,
        types=types if (types := entry / _TYPES).is_file() else None,
        modules=entry / "modules",
        objects=listed if (listed := entry / _OBJECTS).is_file() else None,
        log=entry / "build.log",
        release=(entry / "release").read_text(encoding="utf-8").strip(),
        seconds=float(about["seconds"]),
        from_cache=from_cache,
    )
