"""System -> the files it boots from: kernel, symbols, initramfs, disks, card or flash; made or fetched, and hashed."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bootlab.build.board.bootloader import BuiltBootloader, build_bootloader
from bootlab.build.board.card import CardParts, compose_card
from bootlab.build.board.device_tree import build_device_tree
from bootlab.build.board.flash import FlashParts, compose_flash
from bootlab.build.board.hibernation import hibernation_parts, with_hibernation
from bootlab.build.board.kept_image import with_kept_ram
from bootlab.build.board.model import expect_silent_opensbi, with_board_model
from bootlab.build.cache import file_sha256
from bootlab.build.debian import packages
from bootlab.build.finished_files import expect_finished_files
from bootlab.build.formats.cpio import Entry
from bootlab.build.image.files import find_image_files, read_booted_entries
from bootlab.build.kernel.build import BuiltKernel, build_kernel
from bootlab.build.kernel.expected_options import expect_options
from bootlab.build.kernel.given import kernel_files
from bootlab.build.kernel.image import ImageKind, expect_arch, expect_loadable, extract_vmlinux, inspect
from bootlab.build.root import disk, initramfs
from bootlab.build.root.acpi_room import clear_of_acpi
from bootlab.build.root.image_entries import read_image_entries
from bootlab.build.root.images import (
    COLD_INITRAMFS,
    COLD_KERNEL,
    Around,
    BuiltRoot,
    Recipe,
    build_root,
    expect_root,
    root_entries,
    system_suite,
)
from bootlab.build.root.kept_region import KeptRoot, make_kept_root
from bootlab.build.root.left_disks import make_swap
from bootlab.build.source.config_text import read_config
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import Board, BootFiles, KernelBuild, KernelEntry, Rootfs, System


def prepare(shop: Workshop, system: System) -> BootFiles:
    """Return the files that `system` boots from, all on this host, with their hashes.

    Raises InputError for what the system asks and cannot be had, MissingTool, StoreError, Unreachable (no network).
    """
    # Before anything is built that is to boot from it.
    expect_finished_files(system)
    if system.image is not None:
        files = find_image_files(shop, system)
        disks, names = _Preparation(shop, system).disks(), [f"disk{index}" for index in range(len(system.disks))]
        more = {name: file_sha256(path) for name, path in zip(names, disks, strict=True)}
        return files.model_copy(update={"disks": disks, "hashes": files.hashes | more})
    expect_root(system)
    job = _Preparation(shop, system)
    made = job.kernel()
    kernel = made.image
    if system.kernel.entry is KernelEntry.PVH:
        kernel = job.pvh_kernel(made)
    archive = clear_of_acpi(system, job.initramfs(made.tree), shop.cache)
    bootloader = job.bootloader(kernel)
    card = job.card(kernel, made, archive, bootloader)
    flash = job.flash(kernel, archive, bootloader)
    disks, names = job.disks(), [f"disk{index}" for index in range(len(system.disks))]
    if (root := job.rootfs(made.tree)) is not None:
        disks, names = (root, *disks), ["rootfs", *names]
    # What lies on no medium is in the machine's memory when it starts, as a boot ROM leaves it.
    firmware = bootloader.spl_image if bootloader is not None and flash is not None else None
    named = {"kernel": kernel, "initramfs": archive, "card": card, "flash": flash, "firmware": firmware}
    named |= dict(zip(names, disks, strict=True))
    hashes = {name: file_sha256(path) for name, path in named.items() if path is not None}
    return BootFiles(
        kernel=kernel,
        vmlinux=made.vmlinux,
        initramfs=archive,
        embedded=made.embedded,
        disks=disks,
        card=card,
        flash=flash,
        firmware=firmware,
        spl=bootloader.spl if bootloader is not None else None,
        uboot=bootloader.uboot if bootloader is not None else None,
        opensbi=bootloader.opensbi if bootloader is not None else None,
        opensbi_at=bootloader.opensbi_at if bootloader is not None else 0,
        symbols=system.kernel.symbols or made.symbols,
        decompressor=made.decompressor,
        types=made.types,
        kernel_config=made.config,
        kernel_build_s=made.build_s,
        remarks=made.built.remarks if made.built is not None else (),
        hashes=hashes,
    )


def build_kernel_of(shop: Workshop, system: System) -> BuiltKernel:
    """Return the kernel that `system` builds, made as for its boots. Raises as `prepare`."""
    build = with_board_model(system).kernel.build
    if build is None:
        raise InputError(
            "kernel: this system builds none: its kernel comes as it is",
            hint="[kernel.build] describes a kernel to build: docs/building.md",
        )
    return _Preparation(shop, system).built(build)[0]


def build_bootloader_of(shop: Workshop, system: System) -> BuiltBootloader:
    """Return the bootloader that `system` builds, made as for its boots. Raises as `prepare`."""
    job = _Preparation(shop, system)
    # SPL that loads a kernel is told where to put its device tree, and that is out of the kernel's way.
    falcon = system.bootloader is not None and system.bootloader.falcon
    built = job.bootloader(job.kernel().image if falcon else None)
    if built is None:
        raise InputError(
            "bootloader: this system builds none", hint="[bootloader] describes one, for a board: docs/board.md"
        )
    return built


def build_root_of(shop: Workshop, system: System, part: str) -> BuiltRoot:
    """Return the `part` (initramfs, rootfs) of `system`, made as for its boots. Raises as `prepare`."""
    recipe: Recipe | None = system.initramfs if part == "initramfs" else system.rootfs
    if recipe is None:
        raise InputError(f"{part}: this system has none", hint=f"[{part}] describes one: docs/building.md")
    if recipe.path is not None:
        raise InputError(f"{part}.path: a finished file, there is nothing to build", hint="docs/building.md: recipes")
    job = _Preparation(shop, system)
    return job.root(recipe, job.modules() if recipe.wants_modules else None)


def root_entries_of(shop: Workshop, system: System, part: str) -> tuple[Entry, ...]:
    """Return the files of the `part` (initramfs, rootfs) of `system`, which has it. Raises as `prepare`."""
    if system.image is not None:
        return read_booted_entries(shop, system, part)
    recipe: Recipe | None = system.initramfs if part == "initramfs" else system.rootfs
    assert recipe is not None
    if recipe.path is None:
        job = _Preparation(shop, system)
        tree = job.modules() if recipe.wants_modules else None
        return root_entries(shop, recipe, system.machine.arch, job.around(recipe, tree))
    if part == "initramfs":
        entries = initramfs.read_contents(recipe.path)
    else:
        entries = read_image_entries(recipe.path, shop.cache)
    if entries is None:
        raise InputError(f"{part}.path: {recipe.path}: what is in it is not known", hint="a recipe says what is in it")
    return tuple(entries)


def module_tree_of(shop: Workshop, system: System) -> Path | None:
    """Return the tree with the kernel's modules below lib/modules; None for a kernel by path. Raises as `prepare`."""
    return _Preparation(shop, system).modules()


@dataclass(frozen=True, slots=True)
class _KernelFiles:
    """The image, and what is known of it. `tree` has its modules below lib/modules, `elf` is what PVH enters."""

    image: Path
    tree: Path | None = None
    vmlinux: Path | None = None
    elf: Path | None = None
    symbols: Path | None = None
    decompressor: Path | None = None
    types: Path | None = None
    config: Path | None = None
    build_s: float = 0.0
    built: BuiltKernel | None = None
    embedded: Path | None = None


def _around(system: System, kernel_tree: Path | None) -> Around:
    has_network, cmdline = system.network is not None, system.kernel.cmdline
    return Around(system_suite(system), kernel_tree, system.rootfs, has_network, system.kept_by_loader, cmdline=cmdline)


class _Preparation:
    def __init__(self, shop: Workshop, system: System) -> None:
        self._shop = shop
        self._system = with_hibernation(with_kept_ram(with_board_model(system)))
        self._arch = system.machine.arch

    def kernel(self) -> _KernelFiles:
        """Return the kernel by path, out of its package, or built."""
        if self._system.kernel.build is not None:
            return self._built_files(self._system.kernel.build)
        path, tree = kernel_files(self._system.kernel, self._fetch)
        try:
            image = inspect(path)
            expect_arch(image, self._arch)
            if not self._system.machine.type.is_real:
                expect_loadable(image)
        except InputError as error:
            key = "kernel.image" if tree is None else "kernel.package"
            raise InputError(f"{key}: {error.message}", hint=error.hint) from error
        configs = sorted(tree.glob("boot/config-*")) if tree is not None else []
        config = configs[0] if len(configs) == 1 else None
        if config is not None:
            expect_options(self._system, read_config(config))
        vmlinux = self.vmlinux(path)
        return _KernelFiles(path, tree, vmlinux, vmlinux, config=config)

    def built(self, build: KernelBuild) -> tuple[BuiltKernel, float, Path | None]:
        """Return the kernel, the seconds spent now on building, and the archive in it if that is asked for."""
        recipe, seconds, tree = self._system.initramfs, 0.0, None
        if recipe is not None and recipe.embedded and recipe.wants_modules:
            # Modules of a kernel that is to carry them: it is built without them first.
            plain = self._build(build, None)
            seconds, tree = (0.0 if plain.from_cache else plain.seconds), plain.modules
        archive = self.embedded_initramfs(tree)
        kernel = self._build(build, archive)
        return kernel, seconds + (0.0 if kernel.from_cache else kernel.seconds), archive

    def _built_files(self, build: KernelBuild) -> _KernelFiles:
        kernel, seconds, archive = self.built(build)
        return _KernelFiles(
            image=kernel.image,
            tree=kernel.modules,
            vmlinux=kernel.vmlinux,
            elf=kernel.stripped,
            symbols=kernel.vmlinux,
            decompressor=kernel.decompressor,
            types=kernel.types,
            config=kernel.config,
            build_s=seconds,
            built=kernel,
            embedded=archive,
        )

    def _build(self, build: KernelBuild, archive: Path | None) -> BuiltKernel:
        return build_kernel(
            self._shop,
            build,
            self._arch,
            initramfs=archive,
            expect=lambda options: expect_options(self._system, options),
        )

    def vmlinux(self, image: Path) -> Path | None:
        """Return the uncompressed kernel, or None for an image that keeps it in a form not known here."""
        try:
            return self._shop.cache.make("vmlinux", file_sha256(image), partial(extract_vmlinux, image))
        except InputError as error:
            self._shop.tell(f"no symbols: {error.message}")
            return None

    def pvh_kernel(self, made: _KernelFiles) -> Path:
        """Return the ELF kernel to enter through PVH."""
        if made.elf is None or inspect(made.elf).pvh_entry is None:
            raise InputError(
                f'kernel.entry: {made.image.name} has no PVH entry, which entry = "pvh" needs',
                hint="a kernel with CONFIG_PVH=y has one; Debian's cloud kernels do",
            )
        return made.elf

    def initramfs(self, tree: Path | None) -> Path | None:
        """Return the archive that is loaded beside the kernel, if any."""
        recipe = self._system.initramfs
        if recipe is None or recipe.embedded:
            return None
        if recipe.path is not None:
            initramfs.expect_whole(recipe.path, self._shop.cache)
            return recipe.path
        return self.root(recipe, tree).path

    def embedded_initramfs(self, tree: Path | None) -> Path | None:
        """Return the uncompressed archive to build into the kernel, if any; `tree` has that kernel's modules."""
        recipe = self._system.initramfs
        if recipe is None or not recipe.embedded:
            return None
        if recipe.path is None:
            return self.root(recipe, tree).path
        return initramfs.unpack(recipe.path, self._shop.cache)

    def rootfs(self, tree: Path | None) -> Path | None:
        """Return the image of the root file system, if any; of one in kept RAM its copy on disk."""
        if (recipe := self._system.rootfs) is None:
            return None
        kept = self._kept_root(tree)
        return self._root_image(recipe, tree) if kept is None else kept.disk

    def _root_image(self, recipe: Rootfs, tree: Path | None) -> Path:
        return recipe.path if recipe.path is not None else self.root(recipe, tree).path

    def _kept_root(self, tree: Path | None) -> KeptRoot | None:
        recipe = self._system.rootfs
        if recipe is None or recipe.kept_ram is None:
            return None
        image = self._root_image(recipe, tree)
        kept = image if recipe.kept_files is recipe else self._root_image(recipe.kept_files, tree)
        return make_kept_root(
            self._shop.cache,
            kept,
            recipe,
            whole=None if kept is image else image,
            store=self._system.changes_device,
        )

    def root(self, recipe: Recipe, tree: Path | None) -> BuiltRoot:
        """Return what `recipe` describes; `tree` has the modules."""
        return build_root(self._shop, recipe, self._arch, self.around(recipe, tree))

    def around(self, recipe: Recipe, tree: Path | None) -> Around:
        """Return what `recipe` takes of the system that it is of; `tree` has the modules."""
        around = _around(self._system, tree)
        if isinstance(recipe, Rootfs):
            return replace(around, cold_start=self._cold_start(tree)) if self._system.restorer is not None else around
        if (kept := self._kept_root(tree)) is None:
            return around
        return replace(around, kept_plan=kept.plan)

    def _cold_start(self, tree: Path | None) -> dict[str, Path]:
        kernel, archive = self.kernel().image, self.initramfs(tree)
        if inspect(kernel).kind is not ImageKind.BZIMAGE:
            raise InputError(
                f"restorer: {kernel.name} is no bzImage, and bootlab-sleep enters no other kernel on x86-64",
                hint="kernel.image: arch/x86/boot/bzImage of the same build",
            )
        return {COLD_KERNEL: kernel, **({COLD_INITRAMFS: archive} if archive is not None else {})}

    def modules(self) -> Path | None:
        """Return the tree with the kernel's modules below lib/modules, if any, fetched or built."""
        kernel = self._system.kernel
        if kernel.build is not None:
            return self._build(kernel.build, None).modules
        return kernel_files(kernel, self._fetch)[1]

    def _board_for(self, kernel: Path | None) -> Board | None:
        board, card = self._system.board, self._system.card
        if board is None or card is None or kernel is None:
            return board
        return board.with_room_for(kernel.stat().st_size, card.load_address)

    def bootloader(self, kernel: Path | None) -> BuiltBootloader | None:
        """Return the bootloader, built, of a board that is told of one; `kernel`: what it is to load."""
        build, board = self._system.bootloader, self._board_for(kernel)
        if build is None or board is None:
            return None
        appended_tree = self._system.card is not None and self._system.card.device_tree == "appended"
        built = build_bootloader(self._shop, build, board, self._arch, appended_tree=appended_tree)
        expect_silent_opensbi(built, self._system.board_model)
        return built

    def card(
        self, kernel: Path, made: _KernelFiles, archive: Path | None, bootloader: BuiltBootloader | None
    ) -> Path | None:
        """Return the image of a board's card, finished or composed."""
        card, board, memory = self._system.card, self._board_for(kernel), self._system.memory
        if card is None or board is None or memory is None:
            return None
        if card.path is not None:
            return card.path
        assert bootloader is not None  # the system's own check: one of the two
        parts = CardParts(
            bootloader=bootloader.image,
            kernel=kernel,
            device_tree=card.dtb or self._device_tree(made, board, pruned=card.device_tree_pruned),
            cmdline=self._system.kernel.cmdline,
            initramfs=archive,
            falcon=bootloader.falcon,
            memory=memory,
            hibernation=hibernation_parts(self._system, made.symbols, made.config, self._shop.cache),
        )
        return compose_card(card, parts, board, self._shop.cache)

    def flash(self, kernel: Path, archive: Path | None, bootloader: BuiltBootloader | None) -> Path | None:
        """Return the image of a board's flash chip, finished or composed."""
        flash, board, memory = self._system.flash, self._system.board, self._system.memory
        if flash is None or board is None or board.flash is None or memory is None:
            return None
        if flash.path is not None:
            return flash.path
        assert bootloader is not None  # the system's own check
        asked = self._system.bootloader
        opensbi = bootloader.opensbi if asked is not None and asked.falcon else None
        cmdline, opensbi_at = self._system.kernel.cmdline, bootloader.opensbi_at
        parts = FlashParts(bootloader.image, kernel, cmdline, archive, memory, opensbi, opensbi_at)
        return compose_flash(flash, parts, board, self._shop.cache)

    def _device_tree(self, made: _KernelFiles, board: Board, *, pruned: bool) -> Path:
        layout = board.card
        assert layout is not None
        build = self._system.kernel.build
        if build is not None and made.built is not None:
            return build_device_tree(self._shop, build, made.built, self._arch, layout.dtb, pruned=pruned)
        found = sorted(made.tree.glob(f"usr/lib/linux-image-*/**/{layout.dtb}")) if made.tree is not None else []
        if not found:
            raise InputError(
                f"card.dtb: missing, and the kernel does not bring {layout.dtb} along",
                hint="a kernel that is built does, and Debian's linux-image-armmp",
            )
        return found[0]

    def disks(self) -> tuple[Path, ...]:
        paths = []
        for wanted in self._system.disks:
            if wanted.path is not None:
                paths.append(wanted.path)
            elif wanted.size_mib is not None and wanted.filesystem == "swap":
                paths.append(make_swap(wanted.size_mib, self._shop.cache))
            elif wanted.size_mib is not None and wanted.filesystem == "changes":
                paths.append(disk.make_blank(wanted.size_mib, self._shop.cache))
            elif wanted.size_mib is not None:
                paths.append(disk.make_empty_ext4(wanted.size_mib, self._shop.cache))
        return tuple(paths)

    def _fetch(self, name: str, suite: str | None) -> Path:
        package = packages.fetch(self._shop, name, suite, self._arch)
        for note in package.notes:
            self._shop.tell(note)
        return package.tree
