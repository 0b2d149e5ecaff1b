"""System -> the files it boots from: kernel, symbols, initramfs, disks; made or fetched into the cache, and hashed."""

from collections.abc import Callable
from pathlib import Path

from bootlab.build import disk, guest, initramfs, packages
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.kernel_image import expect_arch, extract_vmlinux, inspect
from bootlab.errors import BootlabError, InputError
from bootlab.system import BootFiles, Kernel, KernelEntry, MachineType, System

_BUSYBOX_PACKAGE = "busybox-static"
_PAGE = 4096

Tell = Callable[[str], None]
"""Gets one line before a step that may take long, or about something that a user should know."""


def prepare(system: System, cache: Cache, *, refresh: bool = False, tell: Tell = lambda line: None) -> BootFiles:
    """Return the files that `system` boots from, all on this host, with their hashes.

    `refresh` looks Debian packages up again even when the cache has them.
    Raises InputError for what the system asks and cannot be had, MissingTool, StoreError, Unreachable (no network).
    """
    job = _Preparation(system, cache, refresh, tell)
    image, tree = job.kernel()
    vmlinux = job.vmlinux(image)
    kernel = image
    if system.kernel.entry is KernelEntry.PVH:
        kernel = job.pvh_kernel(image, vmlinux)
    archive = job.clear_of_acpi(job.initramfs(tree))
    disks = job.disks()
    named = {"kernel": kernel, "initramfs": archive, **{f"disk{index}": path for index, path in enumerate(disks)}}
    hashes = {name: file_sha256(path) for name, path in named.items() if path is not None}
    return BootFiles(kernel=kernel, vmlinux=vmlinux, initramfs=archive, disks=disks, hashes=hashes)


class _Preparation:
    def __init__(self, system: System, cache: Cache, refresh: bool, tell: Tell) -> None:
        self._system = system
        self._arch = system.machine.arch
        self._cache = cache
        self._refresh = refresh
        self._tell = tell

    def kernel(self) -> tuple[Path, Path | None]:
        """Return the kernel image and the unpacked package it comes from, if any."""
        path, tree = _kernel_files(self._system.kernel, self._fetch)
        try:
            expect_arch(inspect(path), self._arch)
        except InputError as error:
            key = "kernel.image" if tree is None else "kernel.package"
            raise InputError(f"{key}: {error.message}", hint=error.hint) from error
        return path, tree

    def vmlinux(self, image: Path) -> Path | None:
        """Return the uncompressed kernel, or None for an image that keeps it in a form not known here."""
        try:
            return self._cache.make("vmlinux", file_sha256(image), lambda out: _extract(image, out))
        except InputError as error:
            self._tell(f"no symbols: {error.message}")
            return None

    def pvh_kernel(self, image: Path, vmlinux: Path | None) -> Path:
        """Return the ELF kernel to enter through PVH."""
        if vmlinux is None or inspect(vmlinux).pvh_entry is None:
            raise InputError(
                f'kernel.entry: {image.name} has no PVH entry, which entry = "pvh" needs',
                hint="a kernel with CONFIG_PVH=y has one; Debian's cloud kernels do",
            )
        return vmlinux

    def initramfs(self, tree: Path | None) -> Path | None:
        recipe = self._system.initramfs
        if recipe is None:
            return None
        if recipe.path is not None:
            _expect_whole(recipe.path, self._cache)
            return recipe.path
        programs = guest.programs(self._arch, self._cache)
        if recipe.busybox:
            programs[initramfs.BUSYBOX] = self._busybox()
        return initramfs.build(recipe, self._arch, tree, programs, self._cache)

    def clear_of_acpi(self, archive: Path | None) -> Path | None:
        """Return the archive, padded where QEMU would lay it over the machine's ACPI tables."""
        machine = self._system.machine
        at_risk = machine.type is MachineType.MICROVM and self._system.kernel.entry is KernelEntry.PVH
        if archive is None or not at_risk or machine.options.get("acpi") == "off":
            return archive
        # For a PVH kernel QEMU puts the archive's end into the last page of memory, up to 4095 bytes from its end, and
        # microvm's tables lie in the last 1 KiB (QEMU 10.0, x86_load_linux(): acpi_data_size is 0 for microvm only).
        # Of an archive of whole pages it leaves that page free, and Linux skips the zeros.
        data = archive.read_bytes()
        if len(data) % _PAGE == 0:
            return archive
        padded = data + bytes(-len(data) % _PAGE)
        return self._cache.make("padded", file_sha256(archive), lambda out: _write(out, padded))

    def disks(self) -> tuple[Path, ...]:
        paths = []
        for wanted in self._system.disks:
            if wanted.path is not None:
                paths.append(wanted.path)
            elif wanted.size_mib is not None:
                paths.append(disk.fresh_ext4(wanted.size_mib, self._cache))
        return tuple(paths)

    def _busybox(self) -> Path:
        tree = self._fetch(_BUSYBOX_PACKAGE, self._system.kernel.suite)
        # Debian 12 has it in /bin, Debian 13 in /usr/bin.
        for path in (tree / "bin/busybox", tree / "usr/bin/busybox"):
            if path.is_file():
                return path
        raise BootlabError(f"{_BUSYBOX_PACKAGE}: the package holds no busybox")

    def _fetch(self, name: str, suite: str | None) -> Path:
        package = packages.fetch(name, suite, self._arch, self._cache, refresh=self._refresh, tell=self._tell)
        for note in package.notes:
            self._tell(note)
        return package.tree


def _kernel_files(kernel: Kernel, fetch: Callable[[str, str | None], Path]) -> tuple[Path, Path | None]:
    if kernel.image is not None:
        return kernel.image, None
    assert kernel.package is not None  # the system's own check: one of the two
    tree = fetch(kernel.package, kernel.suite)
    images = sorted(tree.glob("boot/vmlinu[xz]-*"))
    if len(images) != 1:
        raise InputError(
            f'kernel.package: "{kernel.package}" holds {len(images)} kernel images, expected one',
            hint="name a kernel package, for example linux-image-cloud-amd64",
        )
    return images[0], tree


def _extract(image: Path, out: Path) -> None:
    extract_vmlinux(image, out)


def _write(out: Path, data: bytes) -> None:
    out.write_bytes(data)


def _expect_whole(path: Path, cache: Cache) -> None:
    # Decompressing it all takes a second or two for a large one: done once for each content.
    try:
        key = file_sha256(path)
    except OSError as error:
        raise InputError(f"initramfs.path: {path}: {error.strerror}") from error

    def check(out: Path) -> None:
        try:
            initramfs.contents(path)
        except InputError as error:
            raise InputError(f"initramfs.path: {error.message}", hint="build or copy the file again") from error
        out.write_text("")

    cache.make("whole", key, check)
